#include "algorithms/gohberg_semencul.hpp"
#include "codelets/levinson.hpp"
#include "tests/machine.hpp"
#include "tests/toeplitz.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
constexpr double eps = std::numeric_limits<T>::epsilon();

template <class T>
struct Solved {
  HostMatrix<T> x;
  HostMatrix<double> outcome;
  Status status;
};

/// The inverse made in one graph and used in two, the second time in tiles of two columns.
template <class T>
Solved<T> solve(Runtime& runtime, const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b,
                const ToeplitzRefinement& refinement = {}) {
  const index_t n = b.rows(), k = b.cols(), mb = std::max<index_t>(n, 1);
  HostMatrix<T> again = b.clone();
  Solved<T> s{b.clone(), HostMatrix<double>(k, 4), {}};
  {
    const auto B = TileMatrix<T>::map(runtime, s.x.data(), n, k, mb, {mb, k});
    const auto C = TileMatrix<T>::map(runtime, again.data(), n, k, mb, {mb, 2});
    const auto O = TileMatrix<double>::map(runtime, s.outcome.data(), k, 4, k, {k, 4});
    const TileMatrix<double> P(runtime, k, 4, {2, 4});
    Graph g(runtime);
    const Toeplitz<T> A(g, t);
    const GohbergSemencul<T> inverse(g, A, sigma);
    inverse.solve(g, B, O, refinement);
    s.status = g.wait();
    Graph later(runtime);
    inverse.solve(later, C, P, refinement);
    CHECK(later.wait().ok() == s.status.ok());
  }
  if (s.status.ok() && refinement.tolerance == 0) CHECK(residual(t, double(sigma), again, b, 0, k) <= 32 * eps<T>);
  return s;
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
      if (kind.kind == ToeplitzKind::random && !s.status.ok()) continue;  // it said so
      CHECK(s.status.ok());
      const double found = residual(t, -1.25, s.x, b, 0, k);
      CHECK(found <= 32 * eps<T>);
      for (index_t j = 0; n > 0 && j < k; ++j) CHECK(s.outcome(j, 0) <= 32 * eps<T>);
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
  // A tolerance that no solution reaches is the first column's failure, and that column's alone.
  const auto vain = solve(runtime, second, T(-1), b, {1, 1e-30});
  CHECK((vain.status.info == n + 1 || n < 3));
  CHECK(residual(second, -1, vain.x, b, 0, 3) <= 32 * eps<T>);
  auto strange = b.clone();
  strange(0, 1) = std::numeric_limits<T>::infinity();
  const auto infinite = solve(runtime, second, T(-1), strange);
  CHECK(infinite.status.info == n + 2);
}

template <class T>
void check_all(Runtime& runtime) {
  for (const index_t n : {1, 2, 3, 64, 501, 1000}) check_solutions<T>(runtime, n);
  for (const index_t n : {1, 2, 40}) check_failures<T>(runtime, n);
}

}  // namespace

TEMPLATE_TEST_CASE("Gohberg and Semencul's inverse solves to rounding or says that it does not", "[toeplitz]", float,
                   double) {
  Runtime runtime({.gpus = 0});
  check_solutions<TestType>(runtime, 0);
  check_all<TestType>(runtime);
}

TEST_CASE("refinement repairs what a growing recursion lost", "[toeplitz]") {
  // Near t(0) the leading minor of order 1 almost vanishes.
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

TEST_CASE("Gohberg and Semencul's inverse refuses what does not fit", "[toeplitz]") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  const Toeplitz<double> A(g, toeplitz_column<double>({ToeplitzKind::kms, 0.5}, 6));
  const GohbergSemencul<double> inverse(g, A, 0);
  CHECK(inverse.n() == 6);
  const TileMatrix<double> B(runtime, 6, 4, {6, 2}), outcome(runtime, 4, 4, {2, 4}), whole(runtime, 4, 4, {4, 4}),
      brief(runtime, 5, 4, {5, 2});
  CHECK_THROWS_AS(inverse.solve(g, B, whole), ArgumentError);
  CHECK_THROWS_AS(inverse.solve(g, brief, outcome), ArgumentError);
  CHECK(g.wait().ok());
  CHECK(inverse.report()(0, 0).read()(levinson_breakdown, 0) == 0);
}

TEMPLATE_TEST_CASE("Gohberg and Semencul's inverse on a GPU", "[toeplitz][gpu]", float, double) {
  require_gpu();
  Runtime runtime({.cpus = 0, .gpus = 1});
  check_all<TestType>(runtime);
}

TEMPLATE_TEST_CASE("Gohberg and Semencul's inverse in a sanitizer", "[toeplitz][gpu][sanitize]", float, double) {
  require_gpu();
  Runtime runtime({.cpus = 0, .gpus = 1});
  check_solutions<TestType>(runtime, 21);
  check_failures<TestType>(runtime, 5);
}
