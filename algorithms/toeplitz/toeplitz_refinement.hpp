#pragma once

#include <tesela/algorithms/toeplitz/toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

#include <limits>

namespace tesela {

/// Options of iterative refinement.
struct ToeplitzRefinement {
  int steps = 3;         ///< largest number of steps
  double tolerance = 0;  ///< residual at which refinement stops; 0 selects 32 roundings of T

  /// Returns the arguments of kernels for a matrix of this norm at size 1.
  template <class T>
  kernels::RefinedSolveArgs<T> args(int exponent, double unit_norm) const {
    const double good = tolerance > 0 ? tolerance : 32 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    return {unit_norm, steps, good, exponent};
  }
};

/// Throws ArgumentError unless B's tiles hold whole columns of n numbers, and `outcome` is k x 4 in tiles with as many
/// rows as B's tiles have columns.
template <class T>
void require_outcome(const char* routine, const TileMatrix<T>& B, index_t n, const TileMatrix<double>& outcome) {
  require_whole_columns(routine, "B", B, n);
  if (n > 0 && (outcome.m() != B.n() || outcome.n() != 4 || outcome.mt() != B.nt() || outcome.nt() > 1 ||
                (B.nt() > 1 && outcome.tile_shape().mb != B.tile_shape().nb)))
    throw ArgumentError(routine, "outcome",
                        std::to_string(outcome.m()) + " x " + std::to_string(outcome.n()) +
                            ", or tiles that do not conform; it must be " + std::to_string(B.n()) + " x 4");
}

}  // namespace tesela
