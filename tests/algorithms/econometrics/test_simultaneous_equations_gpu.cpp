// A separate program: its runtimes follow each other, and a process has one at a time.
#include "tests/support/machine.hpp"
#include "tests/support/simultaneous_equations.hpp"

using namespace tesela::test;

namespace {

struct Case {
  SemProblem problem;
  SemOptions options;
};

std::vector<Case> cases(bool small) {
  std::vector<Case> all;
  const auto add = [&](const SemProblem& p) {
    for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage, SemMethod::ols, SemMethod::sur})
      for (const SemEngine engine : {SemEngine::staircase, SemEngine::batched, SemEngine::givens})
        all.push_back({{p.data.clone(), p.model}, {.method = method, .engine = engine}});
    all.push_back(
        {{p.data.clone(), p.model}, {.method = SemMethod::three_stage, .system_solver = SystemSolver::gradients}});
  };
  add(food_market());
  if (small) return all;
  SemProblem p = generated(300, 130, 6, 97, 3, 0.3, 11);
  add(p);
  for (index_t t = 0; t < 300; ++t)  // products of these columns are too ill-conditioned for Cholesky
    for (index_t c = 7; c < 130; c += 9) p.data(t, c) = p.data(t, c - 1) + 1e-6 * p.data(t, c);
  add(p);
  p = generated(70, 9, 3, 3, 2, 0.5, 3);
  p.model.equations[1].instruments = {8, 0, 3, 4, 5, 6};
  add(p);
  p.model.equations[2].regressors.push_back(9);  // not identified, or contains its own dependent variable
  p.model.equations[2].regressors.push_back(10);
  std::sort(p.model.equations[2].regressors.begin(), p.model.equations[2].regressors.end());
  auto& r = p.model.equations[2].regressors;
  r.erase(std::unique(r.begin(), r.end()), r.end());
  add(p);
  return all;
}

std::vector<SimultaneousEquations> answers(const std::vector<Case>& all, const RuntimeOptions& options) {
  Runtime on(options);
  std::vector<SimultaneousEquations> results;
  for (const Case& c : all) results.push_back(solve(on, c.problem, c.options));
  return results;
}

void check_equal_estimates(bool small, const std::vector<RuntimeOptions>& others) {
  const std::vector<Case> all = cases(small);
  const auto expected = answers(all, {.gpus = 0});
  for (const RuntimeOptions& options : others) {
    const auto found = answers(all, options);
    for (std::size_t k = 0; k < all.size(); ++k) {
      CAPTURE(k, name_of(sem_methods(), all[k].options.method), name_of(sem_engines(), all[k].options.engine));
      CHECK(found[k].status == expected[k].status);
      const bool with_errors = all[k].options.system_solver != SystemSolver::gradients;
      double distance = 0, of_sigma = 0, condition = 1;
      REQUIRE(found[k].equations.size() == expected[k].equations.size());
      for (std::size_t i = 0; i < expected[k].equations.size(); ++i) {
        const EquationEstimate &a = expected[k].equations[i], &b = found[k].equations[i];
        condition = std::max(condition, a.condition);
        distance = std::max(distance, apart(a, b, with_errors));
        if (!a.coefficients.empty()) of_sigma = std::max(of_sigma, std::abs(a.sigma / b.sigma - 1));
      }
      CAPTURE(condition, distance, of_sigma);
      // Rounding each number of the data once moves the estimates by a tenth of this. Without standard errors,
      // distances are relative to the coefficients alone.
      const double bound = std::max(1e-10, 2e-15 * condition);
      CHECK(distance <= (with_errors ? bound : 100 * bound));
      CHECK(of_sigma <= bound);
    }
  }
}

}  // namespace

TEST_CASE("estimates on GPUs alone and on GPUs with cores agree with those on cores", "[gpu]") {
  require_gpu();
  check_equal_estimates(false, {{.cpus = 0}, {}});
}

TEST_CASE("estimates of the food market on a GPU agree with those on cores", "[gpu][sanitize]") {
  require_gpu();
  check_equal_estimates(true, {{.cpus = 0}});
}

TEST_CASE("estimates do not depend on the number of cores") { check_equal_estimates(false, {{.cpus = 1, .gpus = 0}}); }
