#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>

namespace tesela {

/// Options of tridiagonal_solve_refined.
struct RefinementOptions {
  SystemsIn systems = SystemsIn::columns;
  bool periodic = false;  ///< whether the first and the last unknown are neighbours
  /// Whether to solve in single precision and refine to double; otherwise all computations use the precision of A and
  /// B.
  bool mixed = false;
  int iterations = 30;   ///< largest number of corrections
  double tolerance = 0;  ///< bound of the backward error; 0 selects 4 eps of A's precision
};

/// Result of tridiagonal_solve_refined.
struct RefinedSolve {
  Status status;              ///< ok if all systems converged
  bool converged = false;     ///< whether the status is ok
  bool broke_down = false;    ///< whether the status is tridiagonal_solve's: a system is singular, or not finite
  bool finite = true;         ///< whether X is finite
  int iterations = 0;         ///< corrections after the first solve
  double backward_error = 0;  ///< largest of all systems; NaN if a number is NaN
};

/// Solves B = A^-1 B by iterative refinement: X of tridiagonal_solve is corrected by the solution of A Y = B - A X
/// until the backward error of each system is at most the tolerance:
///
///     ||D (A x - b)|| / (||D A|| ||x|| + ||D b||)    (maximum norms; D: powers of two that bring the largest entry
///                                                     of each row of D A into [2, 4))
///
/// A        shapes and tiles as for tridiagonal_solve; not changed, but copied.
/// B        overwritten by X.
/// Returns  `status` is not 0 if some system did not converge within options.iterations, or if two successive
///          corrections did not halve the error. It is tridiagonal_solve's status (i + 1 + n s) after a breakdown, else
///          the equation with the worst residual. X then has the error backward_error. Later tasks of g are not
///          affected.
/// Throws   ArgumentError if shapes do not conform, or for `mixed` in single precision.
/// Waits    for earlier tasks of g (if they failed, their status is returned and B is unchanged), then for the result.
/// Method   D makes the errors of small rows visible. Refinement repairs the effects of growth and of a wrong pivot.
///          With `mixed`, A's rows are multiplied by D and each residual is scaled to size 1 before rounding to single
///          precision, so that neither overflows or underflows. It converges if the condition number is well below 1 /
///          eps of the precision of the solves (Higham, Accuracy and Stability of Numerical Algorithms, ch. 12). A
///          converged system is not changed any more. At least one solve is done, so that a singular A is detected for
///          every B.
template <class T>
RefinedSolve tridiagonal_solve_refined(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const RefinementOptions& options = {});

}  // namespace tesela
