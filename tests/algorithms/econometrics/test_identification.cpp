#include "tests/support/simultaneous_equations.hpp"

#include <functional>

using namespace tesela::test;

namespace {

SimultaneousEquations by(const SemProblem& p, SemMethod method) { return solve(p, {.method = method}); }

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    most = std::max(most, std::abs(a[k] - b[k]) / (std::abs(a[k]) + std::abs(b[k])));
  return most;
}

double apart(const SimultaneousEquations& a, const SimultaneousEquations& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.equations.size(); ++i)
    most = std::max({most, apart(a.equations[i].coefficients, b.equations[i].coefficients),
                     apart(a.equations[i].standard_errors, b.equations[i].standard_errors)});
  return most;
}

/// Returns the problem with another column after the instruments.
SemProblem with_instrument(const SemProblem& p, const std::function<double(index_t)>& element) {
  const index_t D = p.data.rows(), K = p.model.instruments, n = p.variables();
  SemProblem q{HostMatrix<double>(D, n + 1), p.model};
  for (index_t t = 0; t < D; ++t)
    for (index_t c = 0; c <= n; ++c) q.data(t, c) = c == K ? element(t) : p.data(t, c < K ? c : c - 1);
  ++q.model.instruments;
  const auto moved = [&](index_t& c) { c += c >= K ? 1 : 0; };
  for (Equation& e : q.model.equations) {
    moved(e.dependent);
    for (index_t& c : e.regressors) moved(c);
  }
  return q;
}

}  // namespace

TEST_CASE("an equation that is not identified has no coefficients and does not affect the others") {
  SemProblem p = generated(80, 8, 3, 3, 2, 0.3, 1);
  const auto all = by(p, SemMethod::three_stage);
  SECTION("order") {
    p.model.equations.push_back({9, {0, 1, 2, 3, 4, 5, 6, 8, 10}});
    const auto s = by(p, SemMethod::three_stage);
    CHECK(s.equations[3].status == EquationStatus::not_identified_order);
    CHECK(s.equations[3].coefficients.empty());
    p.model.equations.pop_back();
    CHECK(apart(all, s) <= 1e-12);
    CHECK(std::isnan(s.residual_covariance(3, 0)));
    CHECK(std::isfinite(s.residual_covariance(2, 0)));
  }
  SECTION("rank: a regressor that no excluded instrument explains") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    HostMatrix<double> noise(80, 1);
    for (index_t t = 0; t < 80; ++t) noise(t, 0) = normal(random);
    // Subtracting its projection on X leaves only the constant of this column.
    const SemProblem regression{[&] {
                                  HostMatrix<double> d(80, 9);
                                  for (index_t t = 0; t < 80; ++t)
                                    for (index_t c = 0; c < 9; ++c) d(t, c) = c < 8 ? p.data(t, c) : noise(t, 0);
                                  return d;
                                }(),
                                {8, 0, {{8, {0, 1, 2, 3, 4, 5, 6, 7}}}}};
    const auto fit = by(regression, SemMethod::ols);
    SemProblem q{HostMatrix<double>(80, 12), p.model};
    for (index_t t = 0; t < 80; ++t) {
      for (index_t c = 0; c < 11; ++c) q.data(t, c) = p.data(t, c);
      q.data(t, 11) = noise(t, 0) + 2;
      for (index_t c = 0; c < 8; ++c)
        q.data(t, 11) -= fit.equations[0].coefficients[static_cast<std::size_t>(c)] * p.data(t, c);
    }
    q.model.equations.push_back({8, {0, 1, 11}});
    const auto s = by(q, SemMethod::three_stage);
    CHECK(s.equations[3].status == EquationStatus::not_identified_rank);
    CHECK(s.equations[3].dependent_regressors == std::vector<index_t>{11});
    CHECK(apart(all, s) <= 1e-11);
  }
  SECTION("collinear: one regressor twice, in different units") {
    SemProblem q = with_instrument(p, [&](index_t t) { return 1e-6 * p.data(t, 1) + 3; });
    q.model.equations[2].regressors = {0, 1, 8, 9};
    const auto s = by(q, SemMethod::two_stage);
    CHECK(s.equations[2].status == EquationStatus::collinear);
    CHECK(s.equations[2].dependent_regressors == std::vector<index_t>{8});
    CHECK(s.dropped_instruments == std::vector<index_t>{8});
    CHECK(s.equations[0].status == EquationStatus::ok);
    CHECK(apart(s.equations[0].coefficients, by(p, SemMethod::two_stage).equations[0].coefficients) <= 1e-11);
  }
}

TEST_CASE("OLS of collinear regressors has the coefficients of least norm, and other methods have none") {
  const SemProblem p = generated(40, 4, 1, 3, 0, 0.5, 9);
  const SimultaneousModel model{4, 0, {{4, {0, 1, 2, 3}}}};
  const auto whole = by({p.data.clone(), model}, SemMethod::ols);
  const EquationEstimate& reduced = whole.equations[0];
  REQUIRE(reduced.status == EquationStatus::ok);
  for (const double c : {1.0, -3e-3, 5e4, 1e-200, 1e200}) {  // regressor 1 in another unit: b = (1, c) b1 / (1 + c^2)
    CAPTURE(c);
    SemProblem q{HostMatrix<double>(40, 6), {5, 0, {{5, {0, 1, 4, 2, 3}}}}};
    for (index_t t = 0; t < 40; ++t) {
      for (index_t k = 0; k < 4; ++k) q.data(t, k) = p.data(t, k);
      q.data(t, 4) = c * p.data(t, 1);
      q.data(t, 5) = p.data(t, 4);
    }
    const auto answer = by(q, SemMethod::ols);
    const EquationEstimate& found = answer.equations[0];
    CHECK(found.status == EquationStatus::collinear);
    CHECK(found.dependent_regressors == std::vector<index_t>{4});
    REQUIRE(found.coefficients.size() == 5);
    const double b = reduced.coefficients[1] / (1 + c * c);
    const double expected[] = {reduced.coefficients[0], b, b * c, reduced.coefficients[2], reduced.coefficients[3]};
    const double size = *std::max_element(std::begin(expected), std::end(expected));
    for (std::size_t k = 0; k < 5; ++k) {
      CAPTURE(k, found.coefficients[k], expected[k]);
      CHECK(std::isnan(found.standard_errors[k]));
      if (c < 1e10 || k == 0 || k > 2)  // beyond, the norm is of columns of one norm
        CHECK(std::abs(found.coefficients[k] - expected[k]) <= 1e-13 * size);
    }
    CHECK(std::abs((found.coefficients[1] + c * found.coefficients[2]) / reduced.coefficients[1] - 1) <= 1e-11);
    CHECK(found.degrees_of_freedom == reduced.degrees_of_freedom);
    CHECK(std::abs(found.sigma / reduced.sigma - 1) <= 1e-12);
    CHECK(std::abs(found.r2 - reduced.r2) <= 1e-12);
    CHECK(std::abs(found.adjusted_r2 - reduced.adjusted_r2) <= 1e-12);
    for (const SemMethod method : {SemMethod::sur, SemMethod::two_stage})
      CHECK(by(q, method).equations[0].coefficients.empty());
  }
}

TEST_CASE("the later of two collinear instruments is dropped and the estimates are unchanged") {
  const SemProblem p = generated(50, 6, 3, 3, 2, 0.5, 3);
  for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage}) {
    const auto s = by(p, method);
    const auto sum = by(with_instrument(p, [&](index_t t) { return p.data(t, 2) - 3e5 * p.data(t, 4) + 1; }), method);
    CHECK(sum.dropped_instruments == std::vector<index_t>{6});
    CHECK(apart(s, sum) <= 1e-11);
    const auto zero = by(with_instrument(p, [](index_t) { return 0.0; }), method);
    CHECK(zero.dropped_instruments == std::vector<index_t>{6});
    CHECK(apart(s, zero) <= 1e-11);
    const auto constant = by(with_instrument(p, [](index_t) { return 7.0; }), method);
    CHECK(constant.dropped_instruments == std::vector<index_t>{6});
    CHECK(apart(s, constant) <= 1e-11);
  }
  // The first of two collinear instruments stays even if an equation names the second.
  SemProblem q = with_instrument(p, [&](index_t t) { return 2 * p.data(t, 1); });
  for (Equation& e : q.model.equations)
    for (index_t& c : e.regressors) c = c == 1 ? 6 : c;
  const auto s = by(q, SemMethod::three_stage);
  CHECK(s.dropped_instruments == std::vector<index_t>{6});
  for (const EquationEstimate& e : s.equations) CHECK(e.status == EquationStatus::ok);
  CHECK(std::abs(s.residual_covariance(0, 1) / by(p, SemMethod::three_stage).residual_covariance(0, 1) - 1) <= 1e-10);
}

TEST_CASE("collinear instruments among many are dropped by tasks") {
  const std::vector<index_t> gone{50, 51, 120, 270, 271};
  for (const index_t D : {500, 200}) {  // with 200 observations the last 85 instruments are dropped too
    const SemProblem p = generated(D, 280, 3, 12, 2, 0.5, 3);
    // The same instruments, with multiples and sums of others inserted.
    SemProblem q{HostMatrix<double>(D, 288), p.model};
    std::vector<index_t> place;
    for (index_t c = 0; c < 288; ++c) {
      const auto at = std::find(gone.begin(), gone.end(), c);
      if (at == gone.end()) place.push_back(c);
      for (index_t t = 0; t < D; ++t)
        q.data(t, c) = at == gone.end()
                           ? p.data(t, std::ssize(place) - 1)
                           : (c % 2 == 0 ? 3e7 * p.data(t, c % 9) : p.data(t, 2) - 1e-4 * p.data(t, 40) + p.data(t, 7));
    }
    q.model.instruments += 5;
    for (Equation& e : q.model.equations) {
      e.dependent = place[static_cast<std::size_t>(e.dependent)];
      for (index_t& c : e.regressors) c = place[static_cast<std::size_t>(c)];
    }
    std::vector<index_t> expected = gone;
    if (D < 280) {
      expected.assign(gone.begin(), gone.begin() + 3);
      for (index_t c = 203; c < 285; ++c) expected.push_back(c);
    }
    for (const SemMethod method : {SemMethod::two_stage, SemMethod::ols}) {
      const auto a = by(p, method), b = by(q, method);
      CAPTURE(D);
      if (method == SemMethod::two_stage) CHECK(b.dropped_instruments == expected);
      CHECK(b.equations[0].status == EquationStatus::ok);
      CHECK(apart(a, b) <= 1e-9);
    }
  }
}

TEST_CASE("few observations are handled") {
  SECTION("fewer than instruments: the independent instruments fit all, as in OLS") {
    const SemProblem p = generated(9, 15, 2, 3, 1, 0.5, 3);
    const auto s = by(p, SemMethod::two_stage), ols = by(p, SemMethod::ols);
    CHECK(s.dropped_instruments == std::vector<index_t>{9, 10, 11, 12, 13, 14});
    CHECK(apart(s, ols) <= 1e-10);
  }
  SECTION("at most the number of regressors") {
    for (const index_t D : {0, 1, 4}) {
      SemProblem p = generated(D, 6, 2, 3, 1, 0.5, 3);
      const auto s = by(p, SemMethod::three_stage);
      CHECK(s.equations[0].status == EquationStatus::too_few_observations);
      CHECK(s.equations[0].coefficients.empty());
    }
  }
  SECTION("fewer than equations: no third stage") {
    const SemProblem p = generated(12, 9, 14, 3, 1, 0.5, 3);
    CHECK(by(p, SemMethod::two_stage).status == SemStatus::ok);
    const auto s = by(p, SemMethod::three_stage);
    CHECK(s.status == SemStatus::singular_covariance);
    CHECK(!s.singular.empty());
    for (const EquationEstimate& e : s.equations) CHECK(e.coefficients.empty());
  }
}

TEST_CASE("an identity among the dependent variables makes the covariance singular and is named") {
  SemProblem p = generated(60, 6, 3, 3, 0, 0.5, 3);
  for (Equation& e : p.model.equations) e.regressors = {0, 1, 2};
  for (index_t t = 0; t < 60; ++t) p.data(t, 8) = 100 - p.data(t, 6) - p.data(t, 7);
  const auto s = by(p, SemMethod::three_stage);
  CHECK(s.status == SemStatus::singular_covariance);
  CHECK(s.singular == std::vector<index_t>{2});
}

TEST_CASE("perfect fits have no error, and a dependent variable may be an instrument") {
  SemProblem p = generated(60, 6, 2, 3, 1, 0.5, 3);
  for (index_t t = 0; t < 60; ++t) p.data(t, 6) = 3 - p.data(t, 1) + 2 * p.data(t, 7);
  p.model.equations[0].regressors = {0, 1, 7};
  const auto s = by(p, SemMethod::two_stage);
  const EquationEstimate& e = s.equations[0];
  CHECK(e.status == EquationStatus::ok);
  CHECK(e.perfect_fit);
  CHECK(apart(e.coefficients, {3, -1, 2}) <= 1e-12);
  CHECK(e.sigma == 0);
  CHECK(e.r2 == 1);
  CHECK(std::isnan(e.sargan.statistic));
  CHECK(by(p, SemMethod::three_stage).status == SemStatus::singular_covariance);

  // The projection P leaves a dependent variable in X unchanged.
  SemProblem q = with_instrument(generated(60, 6, 2, 3, 1, 0.5, 4), [&](index_t) { return 0.0; });
  for (index_t t = 0; t < 60; ++t) q.data(t, 6) = q.data(t, 8);
  q.model.equations[1].dependent = 6;
  CHECK(distance(by(q, SemMethod::two_stage), sem_reference(q, {})) <= 1e-10);
  SECTION("a constant dependent variable") {
    SemProblem c = generated(30, 4, 2, 2, 1, 0.5, 3);
    for (index_t t = 0; t < 30; ++t) c.data(t, 4) = 5;
    c.model.equations[0].regressors = {0, 1, 2};
    const auto f = by(c, SemMethod::two_stage);
    CHECK(f.equations[0].perfect_fit);
    CHECK(std::isnan(f.equations[0].r2));
  }
}

TEST_CASE("estimators coincide where theory says so") {
  SECTION("just identified: 3SLS = 2SLS = indirect least squares") {
    SemProblem just = generated(60, 4, 2, 3, 1, 0.5, 3);
    just.model.equations = {{4, {0, 1, 2, 5}}, {5, {0, 1, 3, 4}}};
    const auto two = by(just, SemMethod::two_stage), three = by(just, SemMethod::three_stage);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(apart(two.equations[i].coefficients, three.equations[i].coefficients) <= 1e-10);
      CHECK(std::isnan(two.equations[i].sargan.statistic));
    }
    // y = P x: the coefficient of y2 in equation 1 is the ratio of the two reduced-form coefficients of the excluded
    // x3.
    const SemProblem reduced{just.data.clone(), {4, 0, {{4, {0, 1, 2, 3}}, {5, {0, 1, 2, 3}}}}};
    const auto form = by(reduced, SemMethod::ols);
    CHECK(std::abs(form.equations[0].coefficients[3] / form.equations[1].coefficients[3] /
                       two.equations[0].coefficients[3] -
                   1) <= 1e-10);
  }
  SECTION("a diagonal residual covariance: 3SLS = 2SLS with over-identified equations, and SUR = OLS") {
    // The columns of one equation are zero in the rows of the other, so its residuals are zero there.
    const SemProblem p = generated(40, 6, 2, 3, 1, 0.5, 3);
    SemProblem apart_rows{HostMatrix<double>::zeros(80, 16), {12, -1, {}}};
    for (index_t i = 0; i < 2; ++i) {
      for (index_t t = 0; t < 40; ++t)
        for (index_t c = 0; c < 8; ++c) {
          const index_t to = c < 6 ? 6 * i + c : 12 + 2 * i + c - 6;
          apart_rows.data(40 * i + t, to) = (i == 0 ? 1 : 1e-3) * p.data(t, c);
        }
      Equation e{12 + 2 * i};
      e.regressors = {6 * i, 6 * i + 1, 6 * i + 3, 13 + 2 * i};
      apart_rows.model.equations.push_back(e);
    }
    for (const auto& [alone, system] :
         {std::pair{SemMethod::two_stage, SemMethod::three_stage}, {SemMethod::ols, SemMethod::sur}}) {
      const auto a = by(apart_rows, alone), b = by(apart_rows, system);
      REQUIRE(b.status == SemStatus::ok);
      CHECK(std::abs(a.residual_covariance(0, 1)) <=
            1e-13 * std::sqrt(a.residual_covariance(0, 0) * a.residual_covariance(1, 1)));
      CHECK(apart(a, b) <= 1e-12);
      if (alone == SemMethod::two_stage) CHECK(b.equations[0].sargan.df == 8);
    }
  }
  SECTION("equal regressors: SUR = OLS") {
    SemProblem p = generated(60, 6, 3, 3, 0, 0.5, 3);
    for (Equation& e : p.model.equations) e.regressors = {0, 2, 4, 5};
    const auto ols = by(p, SemMethod::ols), sur = by(p, SemMethod::sur);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(apart(ols.equations[i].coefficients, sur.equations[i].coefficients) <= 1e-11);
  }
  SECTION("equal instruments for each equation, and different ones") {
    SemProblem p = generated(70, 9, 3, 3, 2, 0.5, 3);
    const auto s = by(p, SemMethod::three_stage);
    for (Equation& e : p.model.equations) e.instruments = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(apart(s, by(p, SemMethod::three_stage)) <= 1e-10);
    p.model.equations[1].instruments = {8, 0, 3, 4, 5, 6};
    p.model.equations[2].instruments.clear();
    for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage}) {
      const SemOptions o{.method = method};
      CAPTURE(name_of(sem_methods(), method));
      CHECK(distance(solve(p, o), sem_reference(p, o)) <= 1e-10);
    }
  }
}

TEST_CASE("permutations and units scale the estimates exactly") {
  const SemProblem p = generated(60, 6, 3, 3, 2, 0.5, 3);
  for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage, SemMethod::sur}) {
    const auto s = by(p, method);
    SemProblem other{p.data.clone(), p.model};
    const std::vector<int> powers{0, 300, -250, 17, -3, 400, 330, -310, 5};
    for (index_t c = 0; c < 9; ++c)
      for (index_t t = 0; t < 60; ++t) other.data(t, c) = std::ldexp(p.data(t, c), powers[static_cast<std::size_t>(c)]);
    const auto scaled = by(other, method);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& e = p.model.equations[i];
      const auto unit = [&](index_t c) { return powers[static_cast<std::size_t>(c)]; };
      for (std::size_t k = 0; k < e.regressors.size(); ++k) {
        const int power = unit(e.dependent) - unit(e.regressors[k]);
        CHECK(scaled.equations[i].coefficients[k] == std::ldexp(s.equations[i].coefficients[k], power));
        CHECK(scaled.equations[i].standard_errors[k] == std::ldexp(s.equations[i].standard_errors[k], power));
      }
      CHECK(scaled.equations[i].r2 == s.equations[i].r2);
      CHECK(scaled.equations[i].condition == s.equations[i].condition);
    }

    SemProblem turned{HostMatrix<double>(60, 9), {6, 3, {}}};  // columns, rows and equations in a different order
    const std::vector<index_t> to{3, 1, 5, 0, 4, 2, 7, 8, 6};
    for (index_t c = 0; c < 9; ++c)
      for (index_t t = 0; t < 60; ++t) turned.data(59 - t, to[static_cast<std::size_t>(c)]) = p.data(t, c);
    for (const std::size_t i : {2, 0, 1}) {
      Equation e = p.model.equations[i];
      e.dependent = to[static_cast<std::size_t>(e.dependent)];
      for (index_t& c : e.regressors) c = to[static_cast<std::size_t>(c)];
      std::reverse(e.regressors.begin(), e.regressors.end());
      turned.model.equations.push_back(e);
    }
    auto back = by(turned, method);
    std::rotate(back.equations.begin(), back.equations.begin() + 1, back.equations.end());
    for (EquationEstimate& e : back.equations) {
      std::reverse(e.coefficients.begin(), e.coefficients.end());
      std::reverse(e.standard_errors.begin(), e.standard_errors.end());
    }
    CHECK(apart(s, back) <= 1e-11);
  }
}

TEST_CASE("NaN in the data is a status, and inconsistent models are refused") {
  SemProblem p = generated(60, 6, 2, 3, 1, 0.5, 3);
  p.data(7, 2) = std::numeric_limits<double>::quiet_NaN();
  for (const EquationEstimate& e : by(p, SemMethod::three_stage).equations)
    CHECK(e.status == EquationStatus::not_finite);
  p.data(7, 2) = 0;
  const auto refused = [&](const Equation& e) {
    p.model.equations = {e};
    CHECK_THROWS_AS(by(p, SemMethod::two_stage), ArgumentError);
  };
  refused({6, {}});
  refused({6, {0, 0}});
  refused({6, {6}});
  refused({8, {0}});
  refused({6, {0, 9}});
}
