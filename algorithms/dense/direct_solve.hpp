#pragma once

#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/lu.hpp>

#include <span>
#include <string>
#include <vector>

namespace tesela {

/// The accuracy of the solution of a square system.
enum class DirectStatus : std::uint8_t {
  ok,
  doubtful,      ///< X exists, but may have fewer than two correct digits
  inaccurate,    ///< X exists, but has no correct digit: elements grew too much in the elimination
  singular,      ///< X exists, but A is singular to working precision
  zero_pivot,    ///< there is no X: pivot `place` of LU is zero or not finite
  not_positive,  ///< there is no X: the leading minor of order `place` is not positive, or not finite
  not_finite     ///< column `place` of X is not finite
};

/// The outcome of solving A X = B, except X.
struct DirectSolve {
  DirectStatus status = DirectStatus::ok;
  index_t place = 0;  ///< counted from 1
  /// ||C|| ||C^-1||, estimated in the Frobenius norm, for C = D A E with rows and columns near 1: the condition of A
  /// whatever units its rows and columns have. Infinite if C^-1 overflows.
  double condition = 1;
  /// Estimated bound of x's relative error, in units of E: ||C^-1 F|| in the Frobenius norm, F the errors of the
  /// factorization and the solution. 0 by Cholesky, whose errors are eps times the condition.
  double error = 0;
  std::vector<index_t> rows = {};  ///< row i of P A is row rows[i] of A, counted from 0; by LU

  bool has_solution() const { return status <= DirectStatus::singular; }
};

/// Describes in words what `doubtful`, `inaccurate` and `singular` mean for this solve, with its figures.
std::string description(const DirectSolve& solve);

/// Solves A X = B by LU with a tournament and estimates X's accuracy. A receives L and U, B receives X. A's tiles are
/// whole columns (suitable_lu_tile), B's too. It adds three products of A with four columns and the solution of eight
/// systems to the factorization, and does not copy A. Only if numbers of A and B, or their products, may leave the
/// range, rows and columns are scaled by powers of two first (RangeScaling): X and all figures come from the factors of
/// a scaled copy, and A receives the unscaled L and U, which are unusable if the unscaled elimination stops.
///
/// Both norms come from four random vectors: ||C^-1 w|| is about ||C^-1||_F ||w|| / sqrt(n), and ||z - w|| of the
/// computed solution z of A z = A w about ||C^-1 F||_F ||w|| / sqrt(n), as Kenney and Laub's small samples (SIAM J.
/// Sci. Comput. 15, 1994). The error shows growth in the elimination, which the condition does not. `doubtful` is a
/// condition above 0.01 / eps or an error above 0.01, `inaccurate` an error above 0.1, and `singular` a condition above
/// 1 / eps. Waits for the graph.
template <class T>
DirectSolve lu_solve(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B);

/// Solves A X = B by Cholesky for a symmetric positive definite A, which receives R; tiles as cholesky() requires.
/// `diagonal` holds A's n diagonal elements, which determine D = E.
template <class T>
DirectSolve cholesky_solve(Graph& g, const TileMatrix<T>& A, std::span<const T> diagonal, const TileMatrix<T>& B);

}  // namespace tesela
