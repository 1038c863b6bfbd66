#pragma once

#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>

namespace tesela {

/// (T - sigma I)^-1, stored as the generators of its two Cauchy-like blocks in the sine basis
/// (codelets/toeplitz/cauchy.hpp): 3 n numbers.
///
/// Method  n elimination steps on n numbers with diagonal pivoting, so that singular leading minors (for example sigma
///         = t_0) are harmless. A solve consists of two sine transforms and two complex transforms of half the length
///         per column, then iterative refinement with products by T until the residual is at rounding level. It fails,
///         with a status, if sigma is an eigenvalue to rounding, if all remaining diagonal entries vanish at once, or
///         if the inverse is too inexact to improve a solution.
template <class T>
class CauchyInverse {
 public:
  /// Inserts the elimination of T - (sigma + perturbation ||T - sigma I||) I. Refinement corrects a small perturbation,
  /// which avoids the case that all remaining diagonal entries vanish. Throws ArgumentError if n < 1 or a number of T -
  /// sigma I is not finite. GPUs support n up to 262144.
  CauchyInverse(Graph& g, const Toeplitz<T>& A, T sigma, double perturbation = 0);

  index_t n() const { return shifted_.matrix.n(); }

  /// Inserts B = (T - sigma I)^-1 B.
  ///
  /// B        n x k in tiles of whole columns; one task per tile, in any graph of the runtime.
  /// outcome  k x 4, in tiles with as many rows as B's tiles have columns. Its first column becomes the residuals ||(T
  ///          - sigma I) x - b|| / (||T - sigma I|| ||x|| + ||b||), with the estimated norm.
  /// Status   Graph::wait() returns i for a breakdown: pivot i <= ceil(n / 2) of the block of symmetric vectors, or
  ///          pivot i - ceil(n / 2) of the block of skew vectors. It is the last pivot of a block if sigma is an
  ///          eigenvalue to rounding. X is zero then. n + 1 + j: column j of one of the tiles has a residual above the
  ///          tolerance; the columns of the other tiles are accurate.
  /// Throws   ArgumentError, with nothing inserted, if tiles do not conform.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns an estimate, from below, of ||T - sigma I||_1 ||(T - sigma I)^-1||_1 (norm1_estimate), by some solves
  /// without refinement; waits for them. Infinite if there is no inverse.
  double condition(Runtime& runtime) const;

  /// Returns the report of the elimination for the two blocks, CauchyReport::rows x 2. T - sigma I is scaled by the
  /// power of two that brings its largest number into [1/2, 1).
  const TileMatrix<double>& report() const { return report_; }

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::CauchySolveArgs<T>& args) const;

  ShiftedToeplitz<T> shifted_;
  TileMatrix<T> inverse_;
  TileMatrix<double> report_;
};

}  // namespace tesela
