#pragma once

#include <tesela/algorithms/support/condition_estimate.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

/// Returns an estimate, from below, of ||T||_1 ||T^-1||_1; infinite if T has no inverse.
///
/// unit      T at size 1.
/// solve     solve(g, B, outcome) inserts B = T^-1 B without refinement, B n x 1.
/// residual  if not null, becomes the largest residual of the solves.
/// Waits     for some solves.
/// Method    norm1_estimate. The approximate inverse of an almost singular matrix may be far too small: see
///           toeplitz_condition_by_counting.
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
    // Above n the status is a large residual, which is normal without refinement.
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

/// Returns a lower bound of ||A||_2 ||A^-1||_2 for A = T - sigma I, without an inverse; 0 if A has no eigenvalue within
/// `farthest` of its norm.
///
/// Method  Inertia counts the eigenvalues of A within 4, 16, 64, ... roundings of its norm, and at most `farthest` of
///         it; bisection over these distances, with two eliminations each.
template <class T>
double toeplitz_condition_by_counting(Graph& g, const Toeplitz<T>& A, T sigma, double farthest);

}  // namespace tesela
