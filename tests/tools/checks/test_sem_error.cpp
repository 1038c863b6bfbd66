#include "tests/support/machine.hpp"
#include "tests/support/simultaneous_equations.hpp"
#include "tools/checks/sem_error.hpp"
#include <tesela/algorithms/econometrics/generated_model.hpp>

using namespace tesela::test;

namespace {

constexpr SemMethod methods[] = {SemMethod::two_stage, SemMethod::three_stage, SemMethod::ols, SemMethod::sur};

double largest(const SemError& error, std::size_t equation) {
  return std::isnan(error.system_residual) ? error.normal_residuals[equation] : error.system_residual;
}

}  // namespace

TEST_CASE("products with residuals on a GPU agree with cores", "[gpu]") {
  require_gpu();
  const GeneratedModel m = generate_model({12000, 30, 500, 10, 0.1}, 1);  // two blocks of rows; a GPU processes one
  SemError found[2];
  for (const bool gpu : {false, true}) {
    Runtime on(gpu ? RuntimeOptions{} : RuntimeOptions{.gpus = 0});
    Graph g(on);
    const ModelTriangle triangle = model_triangle(g, rows_of(m.data));
    const auto s = estimate(g, triangle, m.model, {});
    found[gpu] = sem_error(g, rows_of(m.data), triangle, m.model, SemMethod::two_stage, s);
  }
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(found[1].normal_residuals[i] <= found[1].bound);
    CHECK(found[1].normal_residuals[i] <= 10 * found[0].normal_residuals[i] + 1e-17);
  }
}

TEST_CASE("estimates are checked with the data, and a wrong coefficient is found") {
  for (const int variant : {0, 1, 2}) {
    SemProblem p = generated(150, 9, 3, 3, 2, 0.5, 3);
    if (variant == 1) p.model.equations[1].instruments = {8, 0, 3, 4, 5, 6};
    if (variant == 2) {  // collinear instruments, of all equations or of one
      for (index_t t = 0; t < 150; ++t) p.data(t, 7) = 1e5 * p.data(t, 2) - p.data(t, 6), p.data(t, 10) *= 1e-100;
      p.model.equations[0].instruments = {0, 1, 2, 6, 7, 5, 8};
    }
    Graph g(runtime());
    const ModelTriangle triangle = model_triangle(g, p.data.clone());
    for (const SemMethod method : methods) {
      SimultaneousEquations s = estimate(g, triangle, p.model, {.method = method});
      const auto measured = [&] { return sem_error(g, rows_of(p.data), triangle, p.model, method, s); };
      CAPTURE(variant, name_of(sem_methods(), method));
      const SemError good = measured();
      for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(s.equations[i].status == EquationStatus::ok);
        CHECK(largest(good, i) <= good.bound);
        for (std::size_t q = 0; q < s.equations[i].coefficients.size(); ++q) {
          double& b = s.equations[i].coefficients[q];
          const double right = b;
          CAPTURE(i, q);
          b += 1e-7 * s.equations[i].standard_errors[q];
          CHECK(largest(measured(), i) > good.bound);
          b = std::numeric_limits<double>::quiet_NaN();
          CHECK(largest(measured(), i) == std::numeric_limits<double>::infinity());
          b = right;
        }
      }
      if (method == SemMethod::three_stage || method == SemMethod::sur) {
        for (index_t i = 0; i < 3; ++i)
          for (index_t j = 0; j < 3; ++j) s.weighting_correlation(i, j) = 1;
        CHECK(measured().system_residual > 1e8 * good.bound);  // infinite, or rounding errors in place of a zero pivot
      }
    }
  }
}
