#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>

namespace tesela {

/// (T - sigma I)^-1 kept as its first column (one O(n^2) run of Durbin's recursion) and reused for any number of
/// right-hand sides, each of them a few Fourier transforms: Gohberg and Semencul's formula, then iterative refinement
/// with products by T until the residual is at rounding level. It fails where Durbin's recursion does (a leading minor
/// vanishes) or where the inverse is too inexact to improve a solution; both are statuses.
template <class T>
class GohbergSemencul {
 public:
  /// Inserts the recursion. Throws ArgumentError where n exceeds levinson_most.
  GohbergSemencul(Graph& g, const Toeplitz<T>& A, T sigma);

  index_t n() const { return matrix_.n(); }

  /// B <- (T - sigma I)^-1 B, n x k: a task for each tile, which must hold whole columns, in any graph of the runtime.
  /// Graph::wait() says i for a breakdown at order i <= n, n + 1 + j where column j has a residual above the tolerance
  /// (of one of the tiles; the others' columns are good). `outcome`, k x 4, in tiles of as many rows as B's have
  /// columns, has the residuals ||(T - sigma I) x - b|| / (||T - sigma I|| ||x|| + ||b||), with the estimated norm, in
  /// its first column. Throws ArgumentError, with nothing inserted, when tiles do not fit.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// An estimate of ||T - sigma I||_1 ||(T - sigma I)^-1||_1, from below (norm1_estimate), by some solves without
  /// refinement; waits for them. Infinite where there is no inverse.
  double condition(Runtime& runtime) const;

  /// What Durbin's recursion said (see LevinsonReport), levinson_report_rows x 1: of T - sigma I times the power of two
  /// that makes its largest number at least 1/2 and less than 1.
  const TileMatrix<double>& report() const { return report_; }

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::RefinedSolveArgs<T>& args) const;

  Toeplitz<T> matrix_;  // T - sigma I
  double norm_;
  TileMatrix<T> shift_, inverse_, generator_;
  TileMatrix<double> report_;
};

}  // namespace tesela
