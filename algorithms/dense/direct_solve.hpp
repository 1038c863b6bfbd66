#pragma once

#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela {

/// Accuracy of the solution of a square system.
enum class DirectStatus : std::uint8_t {
  /// X is accurate: condition at most 0.01 / eps and estimated error at most 0.01, or this error at most 0.001.
  ok,
  doubtful,      ///< X exists, but may have fewer than two correct digits
  inaccurate,    ///< X exists, but has no correct digit, because elements grew in the elimination
  singular,      ///< X exists, but A is singular to working precision
  zero_pivot,    ///< X does not exist: pivot `place` of LU is zero or not finite
  not_positive,  ///< X does not exist: the leading minor of order `place` is not positive or not finite
  not_finite     ///< column `place` of X is not finite
};

/// Status and accuracy of a solution of A X = B.
struct DirectSolve {
  DirectStatus status = DirectStatus::ok;
  index_t place = 0;  ///< index of the pivot, minor or column that `status` reports, from 1
  /// Frobenius condition ||C|| ||C^-1||, estimated, of C = D A E whose rows and columns have sizes near 1. It does not
  /// depend on the units of A's rows and columns. Infinite if C^-1 overflows.
  double condition = 1;
  /// Estimated bound of the relative error of X in units of E: ||C^-1 F||_F, F the errors of the factorization and the
  /// solution. 0 for Cholesky, whose error is eps times the condition.
  double error = 0;
  std::vector<index_t> rows = {};  ///< LU only: row i of P A is row rows[i] of A, from 0

  /// Returns whether X has numbers; they are useless if A is singular.
  bool has_solution() const { return status <= DirectStatus::singular; }
};

/// Describes the status `doubtful`, `inaccurate` or `singular` in words, with condition and error; empty for others.
std::string description(const DirectSolve& solve);

/// Solves A X = B by LU with tournament pivoting, and estimates the accuracy of X (LAPACK gesvx).
///
/// A        n x n in tiles of whole columns (lu_tile); overwritten by L and U.
/// B        n x r in tiles of whole columns; overwritten by X.
/// Returns  status, condition, estimated error and row order. `doubtful`: error above 0.01, or condition above 0.01 /
///          eps and error above 0.001; `inaccurate`: error above 0.1; `singular`: condition above 1 / eps.
/// Throws   ArgumentError as lu() and LuFactorization::solve.
/// Waits    for the graph.
/// Method   If elements of A and B or their products may leave the range, rows and columns are scaled by powers of two
///          first (RangeScaling). X and the accuracy then come from a scaled copy; A receives the unscaled L and U,
///          which are unusable if the unscaled elimination stops. On cores, rows in very different units are scaled in
///          place, since units would decide the pivots, and P A = L U is scaled back. The estimates cost three
///          products of A with four columns and the solution of eight systems. They use four random vectors w (Kenney
///          and Laub, SIAM J. Sci. Comput. 15, 1994): ||C^-1 w|| is about ||C^-1||_F ||w|| / sqrt(n), and ||z - w||
///          about ||C^-1 F||_F ||w|| / sqrt(n) for the computed solution z of A z = A w. The error includes the growth
///          of elements in the elimination, which the condition does not show.
template <class T>
DirectSolve lu_solve(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B);

/// Solves the system for matrices in memory: chooses the tiles, and waits. The calling thread solves small systems.
///
/// a, b  n x n and n x r, on the host or on one device; overwritten by the factors and by X.
template <class T>
DirectSolve lu_solve(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b);

/// Solves A X = B by Cholesky for a symmetric or Hermitian positive definite A (LAPACK posvx).
///
/// A         n x n, tiled as cholesky() requires; overwritten by R.
/// diagonal  the n diagonal elements of A, whose real parts determine the scaling D = E.
/// B         n x r in tiles as high as A's; overwritten by X.
/// Returns   status and condition, as lu_solve.
/// Throws    ArgumentError as cholesky() and CholeskyFactorization::solve, or if `diagonal` has another length.
/// Waits     for the graph.
template <class T>
DirectSolve cholesky_solve(Graph& g, const TileMatrix<T>& A, std::span<const T> diagonal, const TileMatrix<T>& B);

/// Solves the system for matrices in memory, as lu_solve. Throws ArgumentError if a diagonal element is not real.
template <class T>
DirectSolve cholesky_solve(Runtime& runtime, MatrixView<T> a, std::type_identity_t<MatrixView<T>> b);

/// Factors a symmetric or Hermitian positive definite matrix in memory, as cholesky(); waits. Returns the status `ok`
/// or `not_positive`, with its minor. Throws ArgumentError if a diagonal element is not real.
///
/// a     n x n, on the host or on one device; the upper triangle is overwritten by R.
/// tile  0 x 0 selects it.
template <class T>
DirectSolve cholesky(Runtime& runtime, MatrixView<T> a, TileShape tile = {0, 0});

}  // namespace tesela
