#include "tests/support/test.hpp"
#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;

TEMPLATE_TEST_CASE("a triangular solve recovers integers and does not read below the diagonal", "", float, double) {
  using T = TestType;
  const index_t n = GENERATE(0, 1, 2, 33), r = GENERATE(0, 1, 64, 65, 130);
  const Op op = GENERATE(Op::none, Op::transpose);
  CAPTURE(n, r, int(op));
  // R is 2 I plus a few ones and X holds small integers, so every product and quotient is exact.
  HostMatrix<T> R(n, n), X(n, r), known(n, r);
  const auto element = [&](index_t i, index_t j) { return i == j ? T(2) : (i + j) % 3 == 0 ? T(1) : T(0); };
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) R(i, j) = i <= j ? element(i, j) : std::numeric_limits<T>::quiet_NaN();
  for (index_t k = 0; k < r; ++k) {
    for (index_t i = 0; i < n; ++i) known(i, k) = static_cast<T>((i * 7 + k * 3) % 11 - 5);
    for (index_t i = 0; i < n; ++i) {
      X(i, k) = 0;
      for (index_t j = 0; j < n; ++j) {
        const bool upper = op == Op::none ? i <= j : j <= i;
        if (upper) X(i, k) += (op == Op::none ? element(i, j) : element(j, i)) * known(j, k);
      }
    }
  }
  Runtime runtime;
  Graph g(runtime);
  triangular_solve(g, op, R, X);
  for (index_t k = 0; k < r; ++k)
    for (index_t i = 0; i < n; ++i) REQUIRE(X(i, k) == known(i, k));
}
