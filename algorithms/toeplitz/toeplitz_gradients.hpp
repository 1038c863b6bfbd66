#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>
#include <tesela/codelets/toeplitz/transform_solves.hpp>

namespace tesela {

/// Solves with a positive definite T - sigma I by conjugate gradients with T. Chan's circulant preconditioner and
/// iterative refinement: O(n log n) per step. If the largest and the smallest value of the symbol are not far apart,
/// some tens of steps suffice for every n. A matrix that is not positive definite, or needs too many steps, is a
/// status.
template <class T>
class ToeplitzGradients {
 public:
  /// Inserts the task that computes the preconditioner.
  ToeplitzGradients(Graph& g, const Toeplitz<T>& A, T sigma);

  index_t n() const { return matrix_.n(); }

  /// Inserts B = (T - sigma I)^-1 B as GohbergSemencul::solve; a breakdown at order n means that T - sigma I is not
  /// positive definite.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// Returns the condition as GohbergSemencul::condition; NaN if its solves have too large residuals.
  double condition(Runtime& runtime) const;

 private:
  void insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
              const kernels::ToeplitzGradientsArgs<T>& args) const;

  Toeplitz<T> matrix_;  // T - sigma I
  double norm_;
  TileMatrix<T> eigenvalues_;
  TileMatrix<double> broken_;
};

}  // namespace tesela
