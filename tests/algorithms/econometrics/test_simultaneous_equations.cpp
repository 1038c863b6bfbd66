#include "tests/support/simultaneous_equations.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdio>

using namespace tesela;
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

TEST_CASE("Kmenta's food market to every printed digit") {
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
  // systemfit stops, unless told, at a change of 1e-5, and prints 52.6618 (12.8051): digits that move later.
  const char* estimates[] = {"52.6619", "0.2266", "0.2234", "0.3800"};
  for (std::size_t k = 0; k < 4; ++k) printed(supply.coefficients[k], estimates[k], 4);
  const double errors[] = {12.80524161498, 0.10746039176, 0.04677399418, 0.07201051406};  // systemfit's at tol = 1e-13
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

TEST_CASE("generated models as the stacked formulas in long double have them") {
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

TEST_CASE("all engines, on many columns, ill conditioned ones and staircases of every shape") {
  for (const double closeness : {1.0, 1e-6}) {
    SemProblem p = generated(130, 60, 4, 47, 3, 0.3, 11);
    for (index_t t = 0; t < 130; ++t)  // instrument 7 is nearly another, which equations have both
      for (index_t c = 7; c < 60; c += 9) p.data(t, c) = p.data(t, c - 1) + closeness * p.data(t, c);
    for (const SemMethod method : methods) {
      CAPTURE(closeness, name_of(sem_methods(), method));
      const auto qr = solve(p, {.method = method, .engine = SemEngine::staircase}),
                 gram = solve(p, {.method = method, .engine = SemEngine::batched}),
                 rotated = solve(p, {.method = method, .engine = SemEngine::givens}),
                 automatic = solve(p, {.method = method});
      for (std::size_t i = 0; i < 4; ++i) CHECK(gram.equations[i].coefficients == automatic.equations[i].coefficients);
      for (const auto* other : {&gram, &rotated}) {
        // Where products are too ill conditioned, `gram` is QR itself; rotations round otherwise, as the condition.
        const double bound = closeness < 1 && other == &rotated ? 1e-8 : 1e-10;
        for (std::size_t i = 0; i < 4; ++i) {
          const EquationEstimate &a = qr.equations[i], &b = other->equations[i];
          REQUIRE(a.status == EquationStatus::ok);
          REQUIRE(b.status == EquationStatus::ok);
          for (std::size_t k = 0; k < a.coefficients.size(); ++k) {
            CHECK(std::abs(a.coefficients[k] - b.coefficients[k]) <=
                  bound * (std::abs(a.coefficients[k]) + a.standard_errors[k]));
            CHECK(near(a.standard_errors[k], b.standard_errors[k], bound));
          }
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

TEST_CASE("conjugate gradients find what Cholesky finds, without standard errors") {
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
          REQUIRE(a.coefficients.size() == b.coefficients.size());
          for (std::size_t k = 0; k < a.coefficients.size(); ++k) {
            CHECK(std::abs(a.coefficients[k] - b.coefficients[k]) <=
                  1e-10 * (std::abs(a.coefficients[k]) + a.standard_errors[k]));
            CHECK(std::isnan(b.standard_errors[k]));
          }
          CHECK(near(a.sigma, b.sigma));
        }
        if (method == SemMethod::three_stage && problem == &p)
          CHECK(near(expected.hansen_sargan.statistic, found.hansen_sargan.statistic, 1e-9));
      }
}

TEST_CASE("statistics of a regression, as R's lm and ivreg have them") {
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

  // Of the system, by the formulas in R: of one over-identified and one just identified equation, the first one's
  // Sargan.
  const auto three = solve(food_market(), {.method = SemMethod::three_stage});
  CHECK(near(three.hansen_sargan.statistic, 2.983119190399, 1e-9));
  CHECK(three.hansen_sargan.df == 1);
  CHECK(near(three.mcelroy_r2, 0.7479113545416, 1e-9));
}
