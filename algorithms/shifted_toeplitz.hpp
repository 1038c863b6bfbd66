#pragma once

#include "algorithms/toeplitz_inertia.hpp"
#include "algorithms/toeplitz_refinement.hpp"
#include "codelets/cauchy_solve.hpp"

namespace tesela {

/// T - sigma I as solvers in the sine basis begin with it: its products, its Cauchy-like blocks, and what their pivots
/// and residuals are measured by.
template <class T>
struct ShiftedToeplitz {
  /// Throws ArgumentError where n < 1 or a number of t is not finite.
  ShiftedToeplitz(Graph& g, const Toeplitz<T>& A, T shift)
      : matrix(A),
        sine(g, {A.column().data(), static_cast<std::size_t>(A.n())}),
        sigma(shift),
        norm(A.norm(static_cast<double>(shift))) {}

  /// For a solve with at most so many steps of refinement.
  CauchySolveArgs<T> solve_args(const ToeplitzRefinement& refinement) const {
    // Of random matrices of order 1000 some 95 in 100 eigenvalues, as LAPACK rounds them, leave a smaller pivot.
    const double least = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * norm;
    return {{sigma, norm, refinement.steps, toeplitz_tolerance<T>(refinement)}, least};
  }

  Toeplitz<T> matrix;
  SineToeplitz<T> sine;
  T sigma;
  double norm;
};

}  // namespace tesela
