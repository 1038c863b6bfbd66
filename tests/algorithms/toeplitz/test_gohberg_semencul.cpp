#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_inverse.hpp"

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
Solved<T> solve(Runtime& runtime, const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b,
                const ToeplitzRefinement& refinement = {}) {
  return test::solve<T, GohbergSemencul>(runtime, t, sigma, b, refinement);
}

template <class T>
void check_solutions(Runtime& runtime, index_t n) {
  for (const ToeplitzGenerator& kind :
       {ToeplitzGenerator{ToeplitzKind::spd}, {ToeplitzKind::kms, 0.5}, {ToeplitzKind::random, 0, 5}})
    for (const index_t k : {1, 5}) {
      const auto t = toeplitz_column<T>(kind, n);
      const auto b = random_columns<T>(n, k, 5);
      const auto s = solve(runtime, t, T(-1.25), b);
      INFO("n " << n << " k " << k << " kind " << static_cast<int>(kind.kind) << " status " << s.status.info);
      if (kind.kind == ToeplitzKind::random && !s.status.ok()) continue;  // it reported the failure
      CHECK(s.status.ok());
      const double found = residual(t, -1.25, s.x, b, 0, k);
      CHECK(found <= 32 * eps<T>);
      for (index_t j = 0; n > 0 && j < k; ++j) CHECK(s.outcome(j, 0) <= 32 * eps<T>);
      double below = 0;
      for (const double value : dense_eigenvalues(t)) below += value < -1.25 ? 1 : 0;
      CHECK(s.negative == below);
      if (kind.kind == ToeplitzKind::kms) CHECK(difference(s.x, dense_solve(t, -1.25, b)) <= 100 * eps<T>);
    }
}

template <class T>
void check_failures(Runtime& runtime, index_t n) {
  const auto second = toeplitz_column<T>({ToeplitzKind::second_difference}, n);
  const auto b = random_columns<T>(n, 3, 5);
  const auto broken = solve(runtime, second, T(2), b);
  CHECK(broken.status.info == 1);
  for (index_t e = 0; e < b.size(); ++e) CHECK(broken.x.data()[e] == 0);
  if (n > 1) CHECK(solve(runtime, second, T(1), b).status.info == 2);
  check_refinement_fails<T, GohbergSemencul>(runtime, second, -1);
}

template <class T>
void check_all(Runtime& runtime) {
  for (const index_t n : {1, 2, 3, 64, 501, 1000}) check_solutions<T>(runtime, n);
  for (const index_t n : {1, 2, 40}) check_failures<T>(runtime, n);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("the Gohberg-Semencul inverse solves to rounding or reports the failure", "", float,
                           double) {
  check_solutions<TestType>(runtime, 0);
  check_all<TestType>(runtime);
}

TEST_CASE("refinement restores digits lost by a recursion with growth", "[toeplitz]") {
  // Near t(0) the leading minor of order 1 is almost zero.
  Runtime runtime({.gpus = 0});
  const index_t n = 200;
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
  const double sigma = t(0, 0) - 1e-4;
  const auto b = random_columns<double>(n, 1, 5);
  const auto raw = solve(runtime, t, sigma, b, {0, 1}), refined = solve(runtime, t, sigma, b, {8, 0});
  CHECK(raw.outcome(0, 0) > 100 * eps<double>);
  CHECK(refined.status.ok());
  CHECK(refined.outcome(0, 0) <= 32 * eps<double>);
  CHECK(residual(t, sigma, refined.x, b, 0, 1) <= 32 * eps<double>);
}

TEST_CASE("the Gohberg-Semencul inverse refuses invalid shapes", "[toeplitz]") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  const Toeplitz<double> A(g, toeplitz_column<double>({ToeplitzKind::kms, 0.5}, 6));
  const GohbergSemencul<double> inverse(g, A, 0);
  check_tiles_refused(g, inverse);
  CHECK(g.wait().ok());
  CHECK(inverse.report()(0, 0).read()(levinson_breakdown, 0) == 0);
}

GPU_TEMPLATE_TEST_CASE("the Gohberg-Semencul inverse works under a sanitizer", "[toeplitz][sanitize]", float, double) {
  check_solutions<TestType>(runtime, 21);
  check_failures<TestType>(runtime, 5);
}
