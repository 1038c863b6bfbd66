#include "tests/support/simultaneous_equations.hpp"

using namespace tesela::test;

namespace {

struct Expected {
  std::vector<double> errors;
  double f, covariance;  ///< of the slopes; of the constant and the first slope
};

/// Checks both equations of the food market.
void require_errors(const SemOptions& options, const Expected& demand, const Expected& supply,
                    const std::vector<index_t>& clusters = {}) {
  SemOptions with = options;
  with.covariances = true;
  const auto answer = solve(runtime(), food_market(), with, clusters);
  REQUIRE(answer.status == SemStatus::ok);
  for (const std::size_t i : {0, 1}) {
    const EquationEstimate& e = answer.equations[i];
    const Expected& expected = i == 0 ? demand : supply;
    REQUIRE(e.standard_errors.size() == expected.errors.size());
    for (std::size_t k = 0; k < expected.errors.size(); ++k) {
      const auto p = static_cast<index_t>(k);
      CAPTURE(i, k, e.standard_errors[k], expected.errors[k]);
      CHECK(std::abs(e.standard_errors[k] / expected.errors[k] - 1) <= 1e-10);
      CHECK(std::abs(std::sqrt(e.covariance(p, p)) / e.standard_errors[k] - 1) <= 1e-13);
    }
    CHECK(std::abs(e.f.statistic / expected.f - 1) <= 1e-9);
    CHECK(e.f.df == std::ssize(e.coefficients) - 1);
    CHECK(std::abs(e.covariance(0, 1) / expected.covariance - 1) <= 1e-8);
    CHECK(e.covariance(0, 1) == e.covariance(1, 0));
  }
}

std::vector<index_t> clusters_of(index_t rows) {
  std::vector<index_t> clusters;
  for (index_t t = 0; t < 20; ++t) clusters.push_back(100 - t / rows);
  return clusters;
}

}  // namespace

// The references are linearmodels 7.1, IV3SLS and SUR, with debiased and group_debias for `small`.
TEST_CASE("errors, covariances and Wald's statistics of 3SLS and SUR agree with linearmodels") {
  const SemOptions plain{.method = SemMethod::three_stage},
      small{.method = SemMethod::three_stage, .divisor = SemDivisor::small};
  require_errors(
      plain, {{7.302652095123, 0.08895412123522, 0.04327991369214}, 28.0076647554, -0.5724083809801},
      {{10.63775527751, 0.08915039072779, 0.0393492581678, 0.0651942628746}, 12.73191426283, -0.866671136246});
  require_errors(
      small, {{7.920838311435, 0.09648429122212, 0.04694365745795}, 23.80651504205, -0.6734216246838},
      {{11.89337196427, 0.09967316694413, 0.04399380806371, 0.07288940176529}, 10.20699763334, -1.08333892031});
  const auto robust = [](SemOptions options) {
    options.robust = true;
    return options;
  };
  require_errors(
      robust(plain), {{5.147453221, 0.0758990132942, 0.04292534502541}, 34.41079724201, -0.3357759734221},
      {{7.301091681501, 0.0569837961046, 0.03779550543956, 0.05989239663575}, 16.84165103917, -0.3455808512533});
  require_errors(
      robust(small), {{5.583196919159, 0.08232403850955, 0.04655907374197}, 29.24917765565, -0.3950305569677},
      {{8.188197430727, 0.06378338138605, 0.0424518150037, 0.06730568714268}, 13.38295999918, -0.4331684296871});
  require_errors(
      robust(plain), {{4.733024663055, 0.09439941767353, 0.05075545673643}, 427.6737343647, -0.4448955503838},
      {{3.573902666043, 0.02566603784135, 0.04363028768174, 0.07570781531206}, 93.00077402338, 0.01239302040798},
      clusters_of(3));
  require_errors(
      robust(small), {{5.404611762854, 0.1077941146489, 0.05795734398936}, 327.9903827506, -0.5801089039338},
      {{4.195466396587, 0.02969361269652, 0.05178720164861, 0.08954302168123}, 69.56052344977, 0.02231928855593},
      clusters_of(3));
  const SemOptions sur{.method = SemMethod::sur}, small_sur{.method = SemMethod::sur, .divisor = SemDivisor::small};
  require_errors(
      robust(sur), {{5.124739352645, 0.06692522691026, 0.03854518860805}, 30.0003220094, -0.2856943880644},
      {{8.579609783176, 0.0683451322828, 0.03410760928202, 0.05534041444408}, 13.09881937305, -0.5317257731592});
  require_errors(
      robust(small_sur), {{4.869843872613, 0.09371678919683, 0.05520019884172}, 28.23174073147, -0.4229053524572},
      {{8.218260900805, 0.06115682548932, 0.05051883641174, 0.08777585833914}, 8.227528508233, -0.3745777658637},
      clusters_of(3));
}

// The reference of J is the formula with dense matrices in NumPy.
TEST_CASE("Hansen's J of a system of equations") {
  const SemOptions options{.method = SemMethod::three_stage, .robust = true};
  const auto by_rows = solve(runtime(), food_market(), options),
             by_tens = solve(runtime(), food_market(), options, clusters_of(2));
  CHECK(std::abs(by_rows.hansen.statistic / 3.516608018766 - 1) <= 1e-9);
  CHECK(by_rows.hansen.df == 1);
  CHECK(std::abs(by_tens.hansen.statistic / 3.399160370294 - 1) <= 1e-9);
  CHECK(std::isnan(solve(runtime(), food_market(), options, clusters_of(3)).hansen.statistic));  // 7 of 8 moments
}

TEST_CASE("robust errors of 3SLS do not depend on clusters of one row, equal instruments or units") {
  const SemProblem p = generated(90, 9, 3, 3, 2, 0.5, 3);
  SemOptions options{.method = SemMethod::three_stage, .robust = true, .covariances = true};
  const auto plain = solve(runtime(), p, options);
  std::vector<index_t> rows;
  for (index_t t = 0; t < 90; ++t) rows.push_back(t);
  const auto single = solve(runtime(), p, options, rows);
  SemProblem own{p.data.clone(), p.model}, other{p.data.clone(), p.model};
  for (Equation& e : own.model.equations) e.instruments = {8, 7, 6, 5, 4, 3, 2, 1, 0};
  const auto by_own = solve(runtime(), own, options);
  for (index_t t = 0; t < 90; ++t)
    for (index_t c = 0; c < 12; ++c) other.data(t, c) = std::ldexp(p.data(t, c), static_cast<int>(60 * c - 300));
  const auto scaled = solve(runtime(), other, options);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(apart(plain.equations[i], single.equations[i]) <= 1e-11);
    CHECK(apart(plain.equations[i], by_own.equations[i]) <= 1e-10);
    CHECK(std::abs(by_own.equations[i].f.statistic / plain.equations[i].f.statistic - 1) <= 1e-9);
    CHECK(scaled.equations[i].f.statistic == plain.equations[i].f.statistic);
    for (std::size_t k = 0; k < plain.equations[i].standard_errors.size(); ++k) {
      const index_t unit = 60 * (p.model.equations[i].dependent - p.model.equations[i].regressors[k]);
      CHECK(scaled.equations[i].standard_errors[k] ==
            std::ldexp(plain.equations[i].standard_errors[k], static_cast<int>(unit)));
    }
  }
  CHECK(std::abs(by_own.hansen.statistic / plain.hansen.statistic - 1) <= 1e-9);
  CHECK(scaled.hansen.statistic == plain.hansen.statistic);

  for (index_t& c : rows) c = c % 2;  // fewer clusters than slopes: errors, but no tests
  const auto two = solve(runtime(), p, options, rows);
  CHECK(two.equations[0].standard_errors[0] > 0);
  CHECK(std::isnan(two.equations[0].f.statistic));
  CHECK(std::isnan(two.hansen.statistic));
  options.system_solver = SystemSolver::gradients;
  const auto none = solve(runtime(), p, options);
  CHECK(none.status == SemStatus::ok);
  CHECK(std::isnan(none.equations[0].standard_errors[0]));
  CHECK(std::isnan(none.equations[0].f.statistic));
  CHECK(none.equations[0].covariance.size() == 0);
}

TEST_CASE("Wald's statistic of 3SLS does not depend on the order of regressors or the size of the constant") {
  SemProblem p = generated(200, 12, 4, 4, 3, 0.5, 7);
  const SemOptions options{.method = SemMethod::three_stage};
  const auto plain = solve(p, options);
  for (Equation& e : p.model.equations) std::reverse(e.regressors.begin(), e.regressors.end());
  const auto turned = solve(p, options);
  for (index_t t = 0; t < 200; ++t)
    for (index_t i = 0; i < 4; ++i) p.data(t, 12 + i) += 1e4;  // moves constants alone
  const auto moved = solve(p, options);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(plain.equations[i].f.statistic > 1);
    CHECK(std::abs(turned.equations[i].f.statistic / plain.equations[i].f.statistic - 1) <= 1e-11);
    CHECK(std::abs(moved.equations[i].f.statistic / plain.equations[i].f.statistic - 1) <= 1e-7);
  }
}

TEST_CASE("the covariances of 2SLS and OLS belong to their standard errors") {
  const SemProblem p = food_market();
  for (const SemMethod method : {SemMethod::two_stage, SemMethod::ols})
    for (const bool robust : {false, true}) {
      const auto answer = solve(p, {.method = method, .robust = robust, .covariances = true});
      for (const EquationEstimate& e : answer.equations) {
        REQUIRE(e.covariance.rows() == std::ssize(e.coefficients));
        for (index_t k = 0; k < e.covariance.rows(); ++k)
          CHECK(std::abs(std::sqrt(e.covariance(k, k)) / e.standard_errors[static_cast<std::size_t>(k)] - 1) <= 1e-10);
      }
    }
  CHECK(solve(p).equations[0].covariance.size() == 0);
}

TEST_CASE("indirect least squares is 2SLS of exactly identified equations and refuses the others") {
  const SemProblem p = food_market();
  const auto stages = solve(p), indirect = solve(p, {.method = SemMethod::indirect});
  CHECK(indirect.equations[0].status == EquationStatus::overidentified);
  CHECK(indirect.equations[0].coefficients.empty());
  CHECK(apart(stages.equations[1], indirect.equations[1]) == 0);
  // The coefficients that the reduced form R1^-1 Y11 implies: price has the only excluded instrument, income.
  const auto& R = indirect.triangle.R;
  Dense R1(4, 4), Y(4, 2);
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) R1(i, j) = R(i, j);
    for (index_t j = 0; j < 2; ++j) Y(i, j) = R(i, 4 + j);
  }
  const Dense form = times(inverse(R1), Y);
  const Real slope = form(1, 0) / form(1, 1);
  CHECK(std::abs(indirect.equations[1].coefficients[1] / static_cast<double>(slope) - 1) <= 1e-10);
  for (const auto& [row, k] : {std::pair{0, 0}, {2, 2}, {3, 3}})
    CHECK(std::abs(indirect.equations[1].coefficients[static_cast<std::size_t>(k)] /
                       static_cast<double>(form(row, 0) - slope * form(row, 1)) -
                   1) <= 1e-9);
}

TEST_CASE("3SLS and SUR of one equation have the errors and tests of 2SLS and OLS") {
  for (const auto& [joint, alone] :
       {std::pair{SemMethod::three_stage, SemMethod::two_stage}, {SemMethod::sur, SemMethod::ols}})
    for (const std::vector<index_t>& regressors : {std::vector<index_t>{0, 5, 1}, {5}, {0}, {1, 5}, {5, 1, 0, 3}})
      for (const auto& clusters : {std::vector<index_t>{}, clusters_of(2), clusters_of(5)}) {
        SemProblem p = food_market();
        p.model.equations = {{4, regressors}};
        SemOptions options{.method = joint, .divisor = SemDivisor::small, .robust = true, .covariances = true};
        const auto together = solve(runtime(), p, options, clusters);
        options.method = alone;
        const auto single = solve(runtime(), p, options, clusters);
        const EquationEstimate &a = together.equations[0], &b = single.equations[0];
        CAPTURE(name_of(sem_methods(), joint), regressors.size(), clusters.size(), a.f.statistic, b.f.statistic);
        REQUIRE(a.status == EquationStatus::ok);
        CHECK(apart(b, a) <= 1e-11);
        for (index_t k = 0; k < a.covariance.size(); ++k)
          CHECK(std::abs(a.covariance.data()[k] - b.covariance.data()[k]) <=
                1e-10 * std::abs(b.covariance(0, 0)) + 1e-10 * std::abs(b.covariance.data()[k]));
        CHECK(std::isnan(a.f.statistic) == std::isnan(b.f.statistic));
        if (!std::isnan(b.f.statistic)) CHECK(std::abs(a.f.statistic / b.f.statistic - 1) <= 1e-9);
        CHECK(std::isnan(together.hansen.statistic) == std::isnan(b.hansen.statistic));
        if (!std::isnan(b.hansen.statistic))
          CHECK(std::abs(together.hansen.statistic / b.hansen.statistic - 1) <= 1e-9);
      }
}

TEST_CASE("robust systems of data that are not finite, of too few rows or of dependent residuals have no errors") {
  const SemOptions options{.method = SemMethod::three_stage, .robust = true, .covariances = true};
  SemProblem p = food_market();
  p.data(3, 1) = std::nan("");
  for (const EquationEstimate& e : solve(runtime(), p, options).equations) {
    CHECK(e.status == EquationStatus::not_finite);
    CHECK(e.standard_errors.empty());
  }
  SemProblem few{HostMatrix<double>(3, 6), food_market().model};
  const SemProblem market = food_market();
  for (index_t c = 0; c < 6; ++c)
    for (index_t t = 0; t < 3; ++t) few.data(t, c) = market.data(t, c);
  for (const EquationEstimate& e : solve(runtime(), few, options).equations) CHECK(e.coefficients.empty());
  SemProblem twice = food_market();
  twice.model.equations.push_back(twice.model.equations[0]);
  const auto dependent = solve(runtime(), twice, options);
  CHECK(dependent.status == SemStatus::singular_covariance);
  CHECK(dependent.equations[0].covariance.size() == 0);
}
