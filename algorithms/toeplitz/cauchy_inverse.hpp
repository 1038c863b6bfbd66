#pragma once

#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>

namespace tesela {

/// (T - sigma I)^-1 kept as 3 n numbers, the generators of its two Cauchy-like blocks in the sine basis
/// (codelets/toeplitz/cauchy.hpp): n steps of n numbers with diagonal pivoting, so that singular leading minors do no
/// harm (sigma = t_0, say). Every solve is two sine transforms and two complex transforms of half the length for each
/// column, then iterative refinement with products by T until the residual is at rounding level. It fails where sigma
/// is an eigenvalue to rounding, where all diagonal entries that are left vanish at once, and where the inverse is too
/// inexact to improve a solution; all are statuses.
template <class T>
class CauchyInverse {
 public:
  /// Inserts the elimination. It is that of T - (sigma + perturbation ||T - sigma I||) I, which refinement makes up for
  /// where that is small: so a matrix is solved although all diagonal entries that are left vanish. Throws
  /// ArgumentError where n < 1 or a number of T - sigma I is not finite. GPUs take n up to 262144.
  CauchyInverse(Graph& g, const Toeplitz<T>& A, T sigma, double perturbation = 0);

  index_t n() const { return shifted_.matrix.n(); }

  /// B <- (T - sigma I)^-1 B, n x k: a task for each tile, which must hold whole columns, in any graph of the runtime.
  /// Graph::wait() says i for a breakdown: pivot i <= ceil(n / 2) of the symmetric vectors' block or pivot i -
  /// ceil(n / 2) of the skew ones', the block's last where sigma is an eigenvalue to rounding; X is zero then. It says
  /// n + 1 + j where column j has a residual above the tolerance (of one of the tiles; the others' columns are good).
  /// `outcome`, k x 4, in tiles of as many rows as B's have columns, has the residuals ||(T - sigma I) x - b|| /
  /// (||T - sigma I|| ||x|| + ||b||), with the estimated norm, in its first column. Throws ArgumentError, with nothing
  /// inserted, when tiles do not fit.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// An estimate of ||T - sigma I||_1 ||(T - sigma I)^-1||_1, from below (norm1_estimate), by some solves without
  /// refinement; waits for them. Infinite where there is no inverse.
  double condition(Runtime& runtime) const;

  /// What the elimination said of the two blocks, CauchyReport::rows x 2, where T - sigma I has the power of two that
  /// makes its largest number at least 1/2 and less than 1.
  const TileMatrix<double>& report() const { return report_; }

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::CauchySolveArgs<T>& args) const;

  ShiftedToeplitz<T> shifted_;
  TileMatrix<T> inverse_;
  TileMatrix<double> report_;
};

}  // namespace tesela
