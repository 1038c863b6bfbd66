#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_refinement.hpp>
#include <tesela/codelets/toeplitz/toeplitz_gradients.hpp>

namespace tesela {

/// (T - sigma I)^-1 B for positive definite T - sigma I by conjugate gradients, preconditioned by T. Chan's circulant
/// matrix, and iterative refinement: O(n log n) a step, some tens of steps where the symbol's largest and smallest
/// values are not far apart, whatever n is. A matrix that is not positive definite, or that takes too many steps, is a
/// status.
template <class T>
class ToeplitzGradients {
 public:
  /// Inserts the task that makes the preconditioner.
  ToeplitzGradients(Graph& g, const Toeplitz<T>& A, T sigma);

  index_t n() const { return matrix_.n(); }

  /// As GohbergSemencul::solve; a breakdown is at the order n, where T - sigma I is not positive definite.
  void solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
             const ToeplitzRefinement& refinement = {}) const;

  /// As GohbergSemencul::condition; NaN where the solves that it takes have too large a residual to tell.
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
