#pragma once

#include "tests/support/toeplitz.hpp"
#include <tesela/algorithms/toeplitz/gohberg_semencul.hpp>
#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>

// Tests of all types that keep (T - sigma I)^-1 for several solves.

namespace tesela::test {

template <class T>
constexpr double eps = std::numeric_limits<T>::epsilon();

template <class T>
struct Solved {
  HostMatrix<T> x;
  HostMatrix<double> outcome;
  Status status;
  double negative;  ///< number of negative pivots
};

template <class T>
double negative_pivots(const GohbergSemencul<T>& inverse) {
  return inverse.n() > 0 ? inverse.report()(0, 0).read()(kernels::levinson_negative, 0) : 0;
}
/// Returns the count of CauchyInverse or CauchyFactorization; other types have none.
template <class Inverse>
double negative_pivots(const Inverse& inverse) {
  if constexpr (requires { inverse.report(); }) {
    std::vector<double> said(2 * kernels::CauchyReport::rows);
    inverse.report().copy_to(said.data(), kernels::CauchyReport::rows);
    return said[kernels::CauchyReport::negative] + said[kernels::CauchyReport::rows + kernels::CauchyReport::negative];
  }
  return 0;
}

/// Computes the inverse in one graph and uses it in two, the second time in tiles of two columns.
template <class T, template <class> class Inverse>
Solved<T> solve(Runtime& runtime, const HostMatrix<T>& t, T sigma, const HostMatrix<T>& b,
                const ToeplitzRefinement& refinement = {}) {
  const index_t n = b.rows(), k = b.cols(), mb = std::max<index_t>(n, 1);
  HostMatrix<T> again = b.clone();
  Solved<T> s{b.clone(), HostMatrix<double>(k, 4), {}, 0};
  {
    const auto B = TileMatrix<T>::map(runtime, s.x.data(), n, k, mb, {mb, k});
    const auto C = TileMatrix<T>::map(runtime, again.data(), n, k, mb, {mb, 2});
    const auto O = TileMatrix<double>::map(runtime, s.outcome.data(), k, 4, k, {k, 4});
    const TileMatrix<double> P(runtime, k, 4, {2, 4});
    Graph g(runtime);
    const Toeplitz<T> A(g, t);
    const Inverse<T> inverse(g, A, sigma);
    inverse.solve(g, B, O, refinement);
    s.status = g.wait();
    Graph later(runtime);
    inverse.solve(later, C, P, refinement);
    CHECK(later.wait().ok() == s.status.ok());
    s.negative = negative_pivots(inverse);
  }
  if (s.status.ok() && refinement.tolerance == 0) CHECK(residual(t, double(sigma), again, b, 0, k) <= 32 * eps<T>);
  return s;
}

/// Requires that an unreachable tolerance is a failure of the first column, and that a column that is not finite is
/// reported. The system has three columns and can be solved.
template <class T, template <class> class Inverse>
void check_refinement_fails(Runtime& runtime, const HostMatrix<T>& t, T sigma) {
  const index_t n = t.rows();
  auto b = random_columns<T>(n, 3, 5);
  const auto vain = solve<T, Inverse>(runtime, t, sigma, b, {1, 1e-30});
  CHECK((vain.status.info == n + 1 || n < 3));
  CHECK(residual(t, double(sigma), vain.x, b, 0, 3) <= 32 * eps<T>);
  b(0, 1) = std::numeric_limits<T>::infinity();
  CHECK(solve<T, Inverse>(runtime, t, sigma, b).status.info == n + 2);
}

/// Requires that B or results in unsuitable tiles are refused.
template <class Inverse>
void check_tiles_refused(Graph& g, const Inverse& inverse) {
  REQUIRE(inverse.n() == 6);
  Runtime& runtime = g.runtime();
  const TileMatrix<double> B(runtime, 6, 4, {6, 2}), outcome(runtime, 4, 4, {2, 4}), whole(runtime, 4, 4, {4, 4}),
      brief(runtime, 5, 4, {5, 2});
  CHECK_THROWS_AS(inverse.solve(g, B, whole), ArgumentError);
  CHECK_THROWS_AS(inverse.solve(g, brief, outcome), ArgumentError);
}

}  // namespace tesela::test
