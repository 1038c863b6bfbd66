#include "tests/support/simultaneous_equations.hpp"
#include <tesela/algorithms/econometrics/sem_summary.hpp>

using namespace tesela::test;

namespace {

SimultaneousEquations robust(const SemProblem& p, SemOptions options, const std::vector<index_t>& clusters = {}) {
  options.robust = true;
  return solve(runtime(), p, options, clusters);
}

void require_errors(const EquationEstimate& e, const std::vector<double>& errors, double f) {
  REQUIRE(e.standard_errors.size() == errors.size());
  for (std::size_t k = 0; k < errors.size(); ++k) CHECK(std::abs(e.standard_errors[k] / errors[k] - 1) <= 1e-9);
  CHECK(std::abs(e.f.statistic / f - 1) <= 1e-9);
}

}  // namespace

// The references are the formulas with dense matrices in R.
TEST_CASE("robust and clustered errors and Hansen's J of the food market agree with R") {
  const SemProblem p = food_market();
  std::vector<index_t> clusters;
  for (index_t t = 0; t < 20; ++t) clusters.push_back(100 - t / 3);
  const auto plain = robust(p, {});
  require_errors(plain.equations[0], {5.14745322099, 0.0758990132942, 0.0429253450255}, 34.4107972419);
  require_errors(plain.equations[1], {7.60641978902, 0.0629833272038, 0.0358384681544, 0.0763438001301}, 20.1773609363);
  CHECK(std::abs(plain.equations[0].hansen.statistic - 3.51660801876) <= 1e-9);
  CHECK(std::abs(plain.equations[0].sargan.statistic - 2.9831191904) <= 1e-9);  // as without robust errors
  CHECK(plain.equations[0].hansen.df == 1);
  CHECK(std::isnan(plain.equations[1].hansen.statistic));  // just identified
  const SemOptions small{.divisor = SemDivisor::small};
  require_errors(robust(p, small).equations[0], {5.58319691915, 0.0823240385095, 0.046559073742}, 29.2491776556);
  const auto clustered = robust(p, {}, clusters);
  require_errors(clustered.equations[0], {4.73302466305, 0.0943994176735, 0.0507554567365}, 427.673734368);
  CHECK(std::abs(clustered.equations[0].hansen.statistic - 2.64542882502) <= 1e-9);
  require_errors(robust(p, small, clusters).equations[0], {5.40461176284, 0.107794114649, 0.0579573439894},
                 327.990382748);
  const SemOptions ols{.method = SemMethod::ols};
  require_errors(robust(p, ols).equations[0], {5.53181864467, 0.0746322173735, 0.0368967311864}, 46.0645446993);
  require_errors(robust(p, ols, clusters).equations[0], {4.70635639304, 0.0884965305014, 0.0465391016491},
                 120.860199554);
}

TEST_CASE(
    "first-stage statistics are robust and clustered as the errors, and agree with linearmodels and statsmodels") {
  const SemProblem p = food_market();
  std::vector<index_t> clusters;
  for (index_t t = 0; t < 20; ++t) clusters.push_back(100 - t / 3);
  const auto require_stages = [](const SimultaneousEquations& s, double demand, double supply) {
    CHECK(std::abs(s.equations[0].first_stage[1].statistic / demand - 1) <= 1e-9);
    CHECK((s.equations[0].first_stage[1].df == 2 && s.equations[0].first_stage[1].df2 == 16));
    CHECK(std::abs(s.equations[1].first_stage[1].statistic / supply - 1) <= 1e-9);
    CHECK((s.equations[1].first_stage[1].df == 1 && s.equations[1].first_stage[1].df2 == 16));
    CHECK(std::isnan(s.equations[0].first_stage[0].statistic));  // exogenous
  };
  SemProblem own = food_market();  // separate instruments, in another order
  own.model.equations[0].instruments = {3, 0, 2, 1};
  for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage})
    for (const SemDivisor divisor : {SemDivisor::observations, SemDivisor::small}) {
      const SemOptions options{.method = method, .divisor = divisor};
      require_stages(robust(p, options), 113.872011203406, 427.689091716820);
      require_stages(robust(p, options, clusters), 198.280525947757, 552.589916818664);
      require_stages(robust(own, options), 113.872011203406, 427.689091716820);
    }
  std::vector<index_t> two;  // as many clusters as excluded instruments leave no test
  for (index_t t = 0; t < 20; ++t) two.push_back(t % 2);
  const auto few = robust(p, {}, two);
  CHECK((few.equations[0].first_stage[1].df2 == 0 && few.equations[1].first_stage[1].df2 == 16));
}

TEST_CASE("the kind of the covariance has a name") {
  CHECK(covariance_name({}, {}) == "classical");
  CHECK(covariance_name({.robust = true}, {}) == "robust (HC0)");
  CHECK(covariance_name({.divisor = SemDivisor::small, .robust = true}, {}) == "robust (HC1)");
  CHECK(covariance_name({.robust = true}, {7, 3, 7, 1}) == "clustered (3 clusters)");
}

TEST_CASE("robust errors do not depend on clusters of one row, equal instruments, collinear instruments or units") {
  SemProblem p = generated(90, 9, 3, 3, 2, 0.5, 3);
  const auto plain = robust(p, {});
  std::vector<index_t> rows;
  for (index_t t = 0; t < 90; ++t) rows.push_back(t);
  const auto single = robust(p, {}, rows);
  SemProblem own{p.data.clone(), p.model};
  for (Equation& e : own.model.equations) e.instruments = {8, 7, 6, 5, 4, 3, 2, 1, 0};
  const auto by_own = robust(own, {});
  SemProblem other{p.data.clone(), p.model};
  for (index_t t = 0; t < 90; ++t)
    for (index_t c = 0; c < 12; ++c) other.data(t, c) = std::ldexp(p.data(t, c), static_cast<int>(60 * c - 300));
  const auto scaled = robust(other, {});
  SemProblem collinear{HostMatrix<double>(90, 13), p.model};
  for (index_t t = 0; t < 90; ++t)
    for (index_t c = 0; c < 13; ++c)
      collinear.data(t, c) = c < 5 ? p.data(t, c) : c == 5 ? p.data(t, 1) - p.data(t, 4) : p.data(t, c - 1);
  collinear.model.instruments = 10;
  for (Equation& e : collinear.model.equations) {
    e.dependent += 1;
    for (index_t& c : e.regressors) c += c >= 5 ? 1 : 0;
  }
  const auto dropped = robust(collinear, {});
  CHECK(dropped.dropped_instruments == std::vector<index_t>{5});
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& errors = plain.equations[i].standard_errors;
    for (std::size_t k = 0; k < errors.size(); ++k) {
      CHECK(std::abs(single.equations[i].standard_errors[k] / errors[k] - 1) <= 1e-12);
      CHECK(std::abs(by_own.equations[i].standard_errors[k] / errors[k] - 1) <= 1e-11);
      CHECK(std::abs(dropped.equations[i].standard_errors[k] / errors[k] - 1) <= 1e-11);
      const index_t unit = 60 * (p.model.equations[i].dependent - p.model.equations[i].regressors[k]);
      CHECK(scaled.equations[i].standard_errors[k] == std::ldexp(errors[k], static_cast<int>(unit)));
    }
    CHECK(std::abs(by_own.equations[i].hansen.statistic / plain.equations[i].hansen.statistic - 1) <= 1e-9);
    CHECK(std::abs(dropped.equations[i].hansen.statistic / plain.equations[i].hansen.statistic - 1) <= 1e-9);
    CHECK(scaled.equations[i].hansen.statistic == plain.equations[i].hansen.statistic);
  }
  // Fewer clusters than slopes or instruments: errors, but no tests.
  for (index_t& c : rows) c = c % 2;
  const auto two = robust(p, {}, rows);
  CHECK(std::isnan(two.equations[0].hansen.statistic));
  CHECK(std::isnan(two.equations[0].f.statistic));
  CHECK(two.equations[0].standard_errors[0] > 0);
  CHECK_THROWS_AS(robust(p, {}, {1, 2}), ArgumentError);
  Graph g(runtime());
  CHECK_THROWS_AS(estimate(g, plain.triangle, p.model, {.robust = true}), ArgumentError);
}

// The slopes of x and x + 2^-k z span the same space as those of x and z, so Wald's statistic is the same.
TEST_CASE("Wald's statistic holds for nearly dependent regressors and is NaN for two clusters") {
  constexpr index_t D = 40;
  const auto problem = [](double part, double noise) {
    SemProblem p{HostMatrix<double>(D, 4), {}};
    std::vector<index_t> numbers{3, -7, 5, 1, -2, 8, -4, 6, 0, -5};
    for (index_t t = 0; t < D; ++t) {
      const auto x = static_cast<double>(numbers[static_cast<std::size_t>(t % 10)] + t / 10);
      const auto z = static_cast<double>(numbers[static_cast<std::size_t>(7 * t % 10)] - t % 7);
      const auto u = static_cast<double>(numbers[static_cast<std::size_t>(3 * t % 10)] + t * t % 13 - 6);
      p.data(t, 0) = 1;
      p.data(t, 1) = x;
      p.data(t, 2) = part * x + (part == 0 ? 1 : 0x1p-30) * z;
      p.data(t, 3) = 1 + 0.5 * x + 0.25 * z + noise * u;
    }
    p.model.instruments = 3;
    p.model.constant = 0;
    p.model.equations = {{.dependent = 3, .regressors = {1, 0, 2}}};
    return p;
  };
  std::vector<index_t> eight, two, one;
  for (index_t t = 0; t < D; ++t) eight.push_back(t % 8), two.push_back(t % 2), one.push_back(5);
  const SemOptions ols{.method = SemMethod::ols};
  for (const auto& clusters : {std::vector<index_t>{}, eight}) {
    const auto apart = robust(problem(0, 0.25), ols, clusters), near = robust(problem(1, 0.25), ols, clusters);
    const double f = apart.equations[0].f.statistic;
    CHECK(f > 1);
    CHECK(near.equations[0].condition > 1e8);
    CHECK(std::abs(near.equations[0].f.statistic / f - 1) <= 1e-5);
  }
  for (const double noise : {1.0, 0x1p-10, 0x1p-20, 0x1p-30})
    CHECK(std::isnan(robust(problem(0, noise), ols, two).equations[0].f.statistic));
  CHECK_THROWS_AS(robust(problem(0, 1), ols, one), ArgumentError);
}
