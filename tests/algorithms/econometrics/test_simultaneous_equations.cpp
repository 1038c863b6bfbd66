#include "tests/support/simultaneous_equations.hpp"
#include <tesela/algorithms/econometrics/reuse_tree.hpp>

#include <cstdio>

using namespace tesela::test;

namespace {

constexpr SemMethod methods[] = {SemMethod::two_stage, SemMethod::three_stage, SemMethod::ols, SemMethod::sur};
constexpr SemDivisor divisors[] = {SemDivisor::observations, SemDivisor::small};

bool printed(double value, const char* digits, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  CAPTURE(text, digits);
  CHECK(std::string(text) == digits);
  return std::string(text) == digits;
}

bool near(double a, double b, double tolerance = 1e-10) { return std::abs(a - b) <= tolerance * std::abs(b); }

}  // namespace

TEST_CASE("Kmenta's food market agrees with every printed digit") {
  const SemProblem p = food_market();
  SemOptions o{.divisor = SemDivisor::small};
  const auto two = solve(p, o);
  const char* demand[] = {"94.6333", "7.9208", "-0.2436", "0.0965", "0.3140", "0.0469"};
  const char* supply2[] = {"49.5324", "12.0105", "0.2401", "0.0999", "0.2556", "0.0473", "0.2529", "0.0997"};
  const char* supply3[] = {"52.1972", "11.8934", "0.2286", "0.0997", "0.2282", "0.0440", "0.3611", "0.0729"};
  const auto all_printed = [&](const EquationEstimate& e, const char* const* digits) {
    REQUIRE(e.status == EquationStatus::ok);
    for (std::size_t k = 0; k < e.coefficients.size(); ++k) {
      printed(e.coefficients[k], digits[2 * k], 4);
      printed(e.standard_errors[k], digits[2 * k + 1], 4);
    }
  };
  all_printed(two.equations[0], demand);
  all_printed(two.equations[1], supply2);
  printed(two.equations[0].r2, "0.7548", 4);
  printed(two.equations[1].r2, "0.6396", 4);
  printed(two.equations[0].sigma, "1.96632", 5);
  printed(two.equations[1].sigma, "2.45756", 5);
  CHECK(near(two.mcelroy_r2, 0.54812733471225, 1e-9));

  o.method = SemMethod::three_stage;
  const auto three = solve(p, o);
  all_printed(three.equations[0], demand);
  all_printed(three.equations[1], supply3);
  CHECK(near(three.residual_covariance(0, 1), 5.0044266935715, 1e-9));
  CHECK(near(three.weighting_covariance(0, 1), 4.3574401868668, 1e-9));
  CHECK(near(three.equations[1].r2, 0.59750814609499, 1e-9));
  CHECK(near(three.equations[1].adjusted_r2, 0.5220409234878, 1e-9));
  CHECK(near(three.mcelroy_r2, 0.78646809517873, 1e-9));

  o.iterate = true;
  const auto iterated = solve(p, o);
  CHECK(iterated.status == SemStatus::ok);
  CHECK(iterated.last_change <= 1e-10);
  all_printed(iterated.equations[0], demand);
  const auto& supply = iterated.equations[1];
  // By default, systemfit stops at a change of 1e-5 and prints 52.6618 (12.8051), which is not converged.
  const char* estimates[] = {"52.6619", "0.2266", "0.2234", "0.3800"};
  for (std::size_t k = 0; k < 4; ++k) printed(supply.coefficients[k], estimates[k], 4);
  const double errors[] = {12.80524161498, 0.10746039176, 0.04677399418, 0.07201051406};  // systemfit at tol = 1e-13
  for (std::size_t k = 0; k < 4; ++k) CHECK(near(supply.standard_errors[k], errors[k], 1e-6));

  o.tolerance = 3e-5;
  const auto early = solve(p, o);
  CHECK(early.status == SemStatus::ok);
  CHECK(early.iterations == 6);
  const char* published[] = {"52.6618", "12.8051", "0.2266", "0.1075", "0.2234", "0.0468", "0.3800", "0.0720"};
  all_printed(early.equations[1], published);

  o = {.method = SemMethod::ols, .divisor = SemDivisor::small};
  printed(solve(p, o).equations[1].coefficients[0], "58.2754", 4);
  o.method = SemMethod::sur;
  printed(solve(p, o).equations[1].coefficients[0], "61.9662", 4);
}

TEST_CASE("estimates of generated models agree with the stacked formulas in long double") {
  for (const SemMethod method : methods)
    for (const SemDivisor divisor : divisors)
      for (const auto& [D, K, N, exogenous, endogenous] :
           {std::array<index_t, 5>{40, 4, 1, 2, 0}, {60, 6, 3, 2, 2}, {120, 12, 4, 4, 2}, {70, 28, 3, 20, 2}}) {
        CAPTURE(name_of(sem_methods(), method), name_of(sem_divisors(), divisor), D, K, N);
        const SemProblem p = generated(D, K, N, exogenous, endogenous, 0.3, 7);
        const SemEngine engine = K == 4 ? SemEngine::givens : K % 4 == 0 ? SemEngine::batched : SemEngine::staircase;
        const SemOptions o{.method = method, .engine = engine, .divisor = divisor};
        const auto answer = solve(p, o);
        CHECK(answer.status == SemStatus::ok);
        const SemReference reference = sem_reference(p, o);
        CHECK(distance(answer, reference) <= 1e-11);
        for (index_t i = 0; i < N; ++i)
          for (index_t j = 0; j < N; ++j)
            CHECK(std::abs(answer.residual_covariance(i, j) - static_cast<double>(reference.covariance(i, j))) <=
                  1e-11 * static_cast<double>(reference.covariance(0, 0)));
      }
}

TEST_CASE("all engines agree on many columns, ill-conditioned columns and every staircase shape") {
  for (const double closeness : {1.0, 1e-6}) {
    SemProblem p = generated(130, 60, 4, 47, 3, 0.3, 11);
    for (index_t t = 0; t < 130; ++t)  // instrument 7 nearly equals another, and equations contain both
      for (index_t c = 7; c < 60; c += 9) p.data(t, c) = p.data(t, c - 1) + closeness * p.data(t, c);
    for (const SemMethod method : methods) {
      CAPTURE(closeness, name_of(sem_methods(), method));
      const auto qr = solve(p, {.method = method, .engine = SemEngine::staircase}),
                 gram = solve(p, {.method = method, .engine = SemEngine::batched}),
                 rotated = solve(p, {.method = method, .engine = SemEngine::givens}),
                 reused = solve(p, {.method = method, .engine = SemEngine::reuse}),
                 automatic = solve(p, {.method = method});
      // The same bits if all tasks run on one kind of worker.
      for (std::size_t i = 0; i < 4 && runtime().gpus() == 0; ++i)
        CHECK(gram.equations[i].coefficients == automatic.equations[i].coefficients);
      for (const auto* other : {&gram, &rotated, &reused}) {
        // `gram` falls back to QR on ill-conditioned products; rotations differ from it by the condition times
        // rounding.
        const double bound = closeness < 1 && other != &gram ? 3e-8 : 1e-10;
        for (std::size_t i = 0; i < 4; ++i) {
          const EquationEstimate &a = qr.equations[i], &b = other->equations[i];
          REQUIRE(a.status == EquationStatus::ok);
          CHECK(apart(a, b) <= bound);
          CHECK(near(a.condition, b.condition, bound));
          if (method == SemMethod::two_stage) {
            CHECK(near(a.sargan.statistic, b.sargan.statistic, bound));
            CHECK(near(a.f.statistic, b.f.statistic, bound));
            CHECK(near(a.first_stage.back().statistic, b.first_stage.back().statistic, bound));
          }
        }
      }
      if (closeness == 1.0 && method == SemMethod::two_stage)
        CHECK(distance(gram, sem_reference(p, {.method = method})) <= 1e-11);
    }
  }
}

TEST_CASE("equations computed from other equations' triangles agree with those computed from the data") {
  const SemProblem p = generated(200, 40, 5, 4, 1, 0.3, 11);
  const auto columns = [](index_t first, index_t last, index_t step = 1) {
    std::vector<index_t> all;
    for (index_t c = first; c < last; c += step) all.push_back(c);
    return all;
  };
  SemProblem q{p.data.clone(), {40, 0, {}}};
  for (index_t t = 0; t < 200; ++t) q.data(t, 9) = q.data(t, 3) - q.data(t, 5);  // not an instrument
  auto add = [&](index_t y, std::vector<index_t> regressors, std::vector<index_t> instruments = {}) {
    q.model.equations.push_back({y, std::move(regressors), std::move(instruments)});
  };
  std::vector<index_t> most = columns(10, 34);
  most.insert(most.begin(), {44, 0, 42});  // out of order
  add(40, most);
  add(41, columns(12, 34));
  add(42, columns(11, 36, 2));
  add(43, columns(20, 34));
  most.push_back(35);
  add(41, most);
  add(43, {44, 33, 0, 12});
  add(40, {0, 20, 3, 9, 5});              // collinear
  add(44, {0, 42, 30}, {0, 30, 31, 32});  // its own instruments
  most = columns(0, 39);
  most.insert(most.end(), {40, 41, 42});
  add(43, most);                             // not identified
  for (const index_t last : {36, 38, 37}) {  // not nested in another equation
    most = columns(4, 33, 4);
    most.push_back(last);
    add(last == 37 ? 41 : 40, most);
  }
  const ReuseTree tree = reuse_tree(q.model);
  CAPTURE(tree.parents);
  CHECK(std::any_of(tree.parents.begin(), tree.parents.end(), [&](index_t parent) {
    return parent >= 0 && tree.parents[static_cast<std::size_t>(parent)] >= 0;
  }));
  CHECK(tree.flops_reused < 0.8 * tree.flops_alone);
  for (const SemMethod method : methods) {
    const auto a = solve(q, {.method = method, .engine = SemEngine::staircase}),
               b = solve(q, {.method = method, .engine = SemEngine::reuse});
    for (std::size_t i = 0; i < a.equations.size(); ++i) {
      const EquationEstimate &x = a.equations[i], &y = b.equations[i];
      CAPTURE(name_of(sem_methods(), method), i);
      CHECK(x.dependent_regressors == y.dependent_regressors);
      if (x.status == EquationStatus::collinear) {  // without standard errors
        CHECK(x.coefficients.empty() == (method != SemMethod::ols));
        REQUIRE(x.coefficients.size() == y.coefficients.size());
        for (std::size_t k = 0; k < x.coefficients.size(); ++k)
          CHECK(near(x.coefficients[k], y.coefficients[k], 1e-10));
        continue;
      }
      CHECK(apart(x, y) <= 1e-10);
      for (std::size_t k = 0; k < x.coefficients.size(); ++k)
        if (x.first_stage[k].df2 > 0) CHECK(near(x.first_stage[k].statistic, y.first_stage[k].statistic, 1e-10));
      if (x.coefficients.empty()) continue;
      CHECK(near(x.condition, y.condition, 1e-10));
      CHECK(near(x.r2, y.r2, 1e-10));
      if (method == SemMethod::two_stage || method == SemMethod::ols) CHECK(near(x.f.statistic, y.f.statistic, 1e-10));
    }
    CHECK(b.equations[6].status == EquationStatus::collinear);
  }
}

TEST_CASE("conjugate gradients agree with Cholesky and have no standard errors") {
  SemProblem p = generated(130, 60, 9, 17, 3, 0.3, 11), own = generated(70, 9, 3, 3, 2, 0.5, 3);
  own.model.equations[1].instruments = {8, 0, 3, 4, 5, 6};
  for (const SemProblem* problem : {&p, &own})
    for (const SemMethod method : {SemMethod::three_stage, SemMethod::sur})
      for (const bool iterate : {false, true}) {
        CAPTURE(problem->variables(), name_of(sem_methods(), method), iterate);
        SemOptions o{.method = method, .system_solver = SystemSolver::cholesky, .iterate = iterate};
        const auto expected = solve(*problem, o);
        CHECK(solve(*problem, {.method = method, .iterate = iterate}).system_solver == SystemSolver::cholesky);
        o.system_solver = SystemSolver::gradients;
        const auto found = solve(*problem, o);
        CHECK(found.status == SemStatus::ok);
        CHECK(found.system_solver == SystemSolver::gradients);
        CHECK(found.gradient_steps > 3);
        CHECK(found.gradient_steps < 40 * found.iterations);
        for (std::size_t i = 0; i < expected.equations.size(); ++i) {
          const EquationEstimate &a = expected.equations[i], &b = found.equations[i];
          CHECK(apart(a, b, false) <= 1e-10);
          for (const double error : b.standard_errors) CHECK(std::isnan(error));
          CHECK(near(a.sigma, b.sigma));
        }
        if (method == SemMethod::three_stage && problem == &p)
          CHECK(near(expected.hansen_sargan.statistic, found.hansen_sargan.statistic, 1e-9));
      }
}

TEST_CASE("statistics of a regression agree with R's lm and ivreg") {
  const auto ols = solve(food_market(), {.method = SemMethod::ols, .divisor = SemDivisor::small});
  CHECK(near(ols.equations[1].f.statistic, 10.1169808745, 1e-9));
  CHECK(ols.equations[1].f.df == 3);
  CHECK(ols.equations[1].f.df2 == 16);
  const auto two = solve(food_market(), {.divisor = SemDivisor::small});
  CHECK(near(two.equations[0].sargan.statistic, 2.9831191904, 1e-9));
  CHECK(two.equations[0].sargan.df == 1);
  CHECK(near(two.equations[0].first_stage[1].statistic, 88.0251282792, 1e-9));
  CHECK(two.equations[0].first_stage[1].df == 2);
  CHECK(two.equations[0].first_stage[1].df2 == 16);
  CHECK(std::isnan(two.equations[0].first_stage[2].statistic));

  // Statistics of a system, by the formulas in R. With one over-identified and one just identified equation, the system
  // has the Sargan statistic of the first.
  const auto three = solve(food_market(), {.method = SemMethod::three_stage});
  CHECK(near(three.hansen_sargan.statistic, 2.983119190399, 1e-9));
  CHECK(three.hansen_sargan.df == 1);
  CHECK(near(three.mcelroy_r2, 0.7479113545416, 1e-9));
}

TEST_CASE("correlations and McElroy's R2 hold for any units, perfect fits and equations without an intercept") {
  const SemProblem p = generated(90, 9, 3, 3, 2, 0.5, 3);
  SemProblem large{p.data.clone(), p.model};
  for (index_t t = 0; t < 90; ++t) large.data(t, 9) = std::ldexp(p.data(t, 9), 540);
  const auto plain = solve(p), scaled = solve(large);
  CHECK(std::isinf(scaled.residual_covariance(0, 0)));
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 3; ++j) {
      const double c = plain.residual_covariance(i, j) / std::sqrt(plain.residual_covariance(i, i)) /
                       std::sqrt(plain.residual_covariance(j, j));
      CHECK(std::abs(plain.residual_correlation(i, j) - c) <= 1e-14);
      CHECK(scaled.residual_correlation(i, j) == plain.residual_correlation(i, j));
    }
  CHECK(scaled.mcelroy_r2 == plain.mcelroy_r2);

  // y2 is exactly x1 + 2 x2.
  SemProblem perfect{p.data.clone(), p.model};
  for (index_t t = 0; t < 90; ++t) perfect.data(t, 10) = p.data(t, 1) + 2 * p.data(t, 2);
  perfect.model.equations = {{.dependent = 9, .regressors = {0, 3, 4}}, {.dependent = 10, .regressors = {1, 2, 0}}};
  const auto fits = solve(perfect, {.method = SemMethod::ols});
  REQUIRE(fits.equations[1].perfect_fit);
  CHECK(fits.residual_covariance(1, 1) == 0);
  CHECK(fits.residual_covariance(0, 1) == 0);
  CHECK(fits.residual_covariance(0, 0) > 0);
  CHECK(std::isnan(fits.residual_correlation(0, 1)));
  CHECK(std::isnan(fits.mcelroy_r2));

  // McElroy's R2 of one equation is its own R2; it is undefined for a constant.
  for (const bool intercept : {false, true}) {
    SemProblem one{p.data.clone(), p.model};
    one.model.equations = {{.dependent = 9, .regressors = {1, 3}}};
    if (intercept) one.model.equations[0].regressors.push_back(0);
    const auto e = solve(one, {.method = SemMethod::ols});
    CHECK(std::abs(e.mcelroy_r2 - e.equations[0].r2) <= 1e-13);
    for (index_t t = 0; t < 90; ++t) one.data(t, 9) = 3.7;
    if (intercept) CHECK(std::isnan(solve(one, {.method = SemMethod::ols}).mcelroy_r2));
  }
}
