#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>

namespace tesela {

struct RefinementOptions {
  SystemsIn systems = SystemsIn::columns;
  bool periodic = false;
  /// Solve in single precision and refine to double; otherwise all of it is done in the precision of A and B.
  bool mixed = false;
  int iterations = 30;   ///< corrections at most
  double tolerance = 0;  ///< of the backward error; 0: 4 eps of A's precision
};

/// What tridiagonal_solve_refined reached.
struct RefinedSolve {
  Status status;  ///< ok where all systems converged
  bool converged = false;
  bool broke_down = false;    ///< the status is tridiagonal_solve's: a system is singular, or not finite
  bool finite = true;         ///< whether X is
  int iterations = 0;         ///< corrections after the first solve
  double backward_error = 0;  ///< the largest over the systems; NaN where something is not a number
};

/// B <- X where A X = B, by iterative refinement: tridiagonal_solve's X is corrected by the solution of A Y = B - A X
/// until the backward error of each system,
///
///     ||D (A x - b)|| / (||D A|| ||x|| + ||D b||)    (maximum norms; D: powers of two that bring the largest entry
///                                                     of each row of D A into [2, 4)),
///
/// is at most the tolerance (D, so that no row hides behind others of a larger scale). This repairs what growth or a
/// misled pivot spoilt, and with `mixed` it makes double precision of single: A's rows are multiplied by D and each
/// residual is brought to the size of 1 before they are rounded, so that neither over- nor underflows. It converges
/// where the condition number is well below 1 / eps of the precision of the solves (Higham, Accuracy and Stability of
/// Numerical Algorithms, ch. 12). A system that is done is not touched any more.
///
/// Shapes and tiles as for tridiagonal_solve; A is not changed, and copied. At least one solve is done, so that a
/// singular A is told whatever B is. Waits for the result, and before that for what g holds
/// already: where that failed, its status is the answer and B stays. Otherwise a status that is not 0 says that not
/// all systems converged within so many corrections, or that two of them on end did not halve the error: it is
/// tridiagonal_solve's (i + 1 + n s) if that saw a breakdown, else the equation with the worst residual. X is as good
/// as backward_error says then, and what g is inserted next is not concerned. Throws ArgumentError when shapes do not
/// fit, or for `mixed` in single precision.
template <class T>
RefinedSolve tridiagonal_solve_refined(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const RefinementOptions& options = {});

}  // namespace tesela
