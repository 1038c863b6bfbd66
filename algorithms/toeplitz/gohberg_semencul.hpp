#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>

namespace tesela {

/// Recursion that computes the first column of an inverse.
enum class InverseRecursion : std::uint8_t {
  durbin,  ///< one task
  schur,   ///< schur(): tiles on all workers, for large n
};

/// (T - sigma I)^-1, stored as its first column, for any number of right-hand sides.
///
/// Method  A recursion computes the first column in O(n^2). A solve consists of some Fourier transforms by
///         Gohberg and Semencul's formula, then iterative refinement with products by T until the residual is at
///         rounding level. It fails, with a status, if the recursion fails (a leading minor vanishes) or if the
///         inverse is too inexact to improve a solution.
template <class T>
class GohbergSemencul {
 public:
  /// Inserts the recursion. Throws ArgumentError if n exceeds levinson_most with Durbin's recursion.
  GohbergSemencul(Graph& g, const Toeplitz<T>& A, T sigma, InverseRecursion recursion = InverseRecursion::durbin);

  index_t n() const { return matrix_.n(); }

  /// Inserts B = (T - sigma I)^-1 B.
  ///
  /// B        n x k in tiles of whole columns; one task per tile, in any graph of the runtime.
  /// outcome  k x 4, in tiles with as many rows as B's tiles have columns. Its first column becomes the residuals ||(T
  ///          - sigma I) x - b|| / (||T - sigma I|| ||x|| + ||b||), with the estimated norm.
  /// Status   Graph::wait() returns i for a breakdown at order i <= n; n + 1 + j if column j of one of the tiles has a
  ///          residual above the tolerance (the columns of the other tiles are accurate).
  /// Throws   ArgumentError, with nothing inserted, if tiles do not conform.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns an estimate, from below, of ||T - sigma I||_1 ||(T - sigma I)^-1||_1 (norm1_estimate), by some solves
  /// without refinement; waits for them. Infinite if there is no inverse.
  double condition(Runtime& runtime) const;

  /// Returns the report of the recursion (see LevinsonReport), levinson_report_rows x 1. T - sigma I is scaled by
  /// the power of two that brings its largest number into [1/2, 1).
  const TileMatrix<double>& report() const { return report_; }

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::RefinedSolveArgs<T>& args) const;

  Toeplitz<T> matrix_;  // T - sigma I
  double norm_ = 0;
  TileMatrix<T> shift_, inverse_, generator_;
  TileMatrix<double> report_;
};

}  // namespace tesela
