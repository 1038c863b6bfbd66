#pragma once

#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

/// An estimate of ||T||_1 ||T^-1||_1, from below, where solve(g, B, outcome) inserts B <- T^-1 B without refinement, T
/// being `unit` at size 1 and B n x 1; waits for some solves. Infinite where one says that T has no inverse. An
/// approximate inverse of a matrix that is almost singular may be far too small: see toeplitz_condition_by_counting.
/// `residual`, if there, becomes the largest that the solves left.
template <class T, class Solve>
double toeplitz_condition(Runtime& runtime, const Toeplitz<T>& unit, const Solve& solve, double* residual = nullptr) {
  const index_t n = unit.n();
  if (n == 0) return 0;
  const TileMatrix<T> B(runtime, n, 1, {n, 1}, "B");
  const TileMatrix<double> outcome(runtime, 1, 4, {1, 4}, "outcome");
  const auto multiply = [&](std::vector<double>& x) {
    {
      const auto home = B(0, 0).write();
      std::transform(x.begin(), x.end(), home.data, [](double value) { return static_cast<T>(value); });
    }
    Graph g(runtime);
    solve(g, B, outcome);
    // Above n the residual was too large, which nothing has refined.
    if (const Status status = g.wait(); status.info > 0 && status.info <= n) {
      std::fill(x.begin(), x.end(), std::numeric_limits<double>::infinity());
      return;
    }
    if (residual != nullptr) *residual = std::max(*residual, outcome(0, 0).read()(0, 0));
    const auto home = B(0, 0).read();
    std::copy_n(home.data, n, x.begin());
  };
  const double inverse = norm1_estimate(n, multiply);
  return std::isfinite(inverse) ? inverse * unit.unit_one_norm() : inverse;
}

/// A lower bound of ||A||_2 ||A^-1||_2, A = T - sigma I, that needs no inverse: eigenvalues of A within 4, 16, 64, ...
/// roundings of its norm, and at most `farthest` of it, are counted by inertia, two eliminations for each distance that
/// halving looks at. Where there is none so near it answers 0: that is for others to tell.
template <class T>
double toeplitz_condition_by_counting(Graph& g, const Toeplitz<T>& A, T sigma, double farthest);

}  // namespace tesela
