#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace tesela {

/// What ||A x - b|| / (||A|| ||x|| + ||b||) of a good X is at most, in maximum norms, whatever n is: elimination with
/// pivoting stays below 2 eps in thousands of systems of 15 kinds.
template <class T>
inline constexpr double tridiagonal_residual_bound = 64.0 * std::numeric_limits<T>::epsilon();

/// Bound of the residual of the system with rows and columns scaled by powers of two (TridiagonalExponents), which
/// shows errors in rows and columns of small scale; an elimination of the scaled system leaves less than 3 eps. The
/// largest component-wise residual, |A x - b|_i / (|A| |x| + |b|)_i, is never less: below this bound it suffices.
template <class T>
inline constexpr double tridiagonal_equilibrated_bound = 1000.0 * std::numeric_limits<T>::epsilon();

/// Sensitivity of X to changes of A and B.
struct TridiagonalCondition {
  /// The largest of ||A^-1 E (|A| |x| + |b|)|| / ||x|| in the maximum norm, E a random diagonal near +-1: eps times
  /// this is about the relative error of x from rounding A and b. Infinite if A is singular. A bound of it if the
  /// diagonals of all systems dominate.
  double value = 0;
  index_t system = 0;  ///< its system

  /// Returns whether A is singular to working precision: X may have no correct digit.
  template <class T>
  bool singular() const {
    return !(value * static_cast<double>(std::numeric_limits<T>::epsilon()) <= 1);
  }
};

/// The outcome of tridiagonal_solve_checked.
struct CheckedSolve {
  /// Status of tridiagonal_solve, i + 1 + n s: the place where a system is singular or a number not finite. ok(): X
  /// exists; good(): X is accurate.
  Status status;
  bool input_finite = true;  ///< false: A or B is not finite at the status's place
  Measured residual{};       ///< the largest; of the systems whose rows are scaled
  /// The largest; a system's component-wise residual replaces it if within the bound.
  Measured residual_equilibrated{};
  double residual_componentwise = 0;  ///< the largest
  index_t system = 0;                 ///< its system
  index_t other_scaling = 0;          ///< systems that were solved better with equilibrate the other way
  index_t corrected = 0;              ///< systems that took a correction by their residual
  int attempts = 0;                   ///< solves after the first
  TridiagonalCondition condition = {};

  bool good() const { return status.ok() && residual.good() && residual_equilibrated.good(); }
};

/// Returns whether X has at least two correct digits by its residuals and its condition.
template <class T>
bool tridiagonal_trustworthy(const CheckedSolve& solve) {
  const double error = std::max<double>(solve.residual_equilibrated.error, std::numeric_limits<T>::epsilon());
  return solve.good() && solve.condition.value * error <= 0.01;
}

/// Describes in words why a solve with an ok() status is not trustworthy, with its figures.
std::string description(const CheckedSolve& solve);

/// Computes X <- A^-1 B (tridiagonal_solve), measures it and corrects it. B does not change. If the residual of a
/// system is above its bounds, or an elimination broke down, all systems are solved again with options.equilibrate
/// inverted; systems still above the bounds are corrected by the solution of A Y = B - A X, with and without
/// equilibration in turn. Each system keeps the X of the least component-wise residual. Measuring costs one more pass
/// over A, B and X; attempts need copies of all three, and cores: without cores the first X is only measured. The
/// condition takes two more solves (tridiagonal_condition), but none if the diagonals of all systems dominate.
///
/// Shapes and tiles as for tridiagonal_solve; X has B's. Waits for g's earlier tasks, whose failure becomes the status,
/// and for the result. Throws ArgumentError if shapes do not fit.
template <class T>
CheckedSolve tridiagonal_solve_checked(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const TileMatrix<T>& X, const TridiagonalOptions& options = {});

/// Returns the condition of A X = B at this X. If |d| is above |dl| + |du| in every row, the least difference bounds it
/// (J. M. Varah, Linear Algebra Appl. 11, 1975). If the bound is large, two solves for random right-hand sides of the
/// size of rounding errors estimate it, with copies of A, B and X (Kenney and Laub's small samples, SIAM J. Sci.
/// Comput. 15, 1994). Waits for the graph. Throws ArgumentError when shapes do not fit.
template <class T>
TridiagonalCondition tridiagonal_condition(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                           const TileMatrix<T>& X, const TridiagonalOptions& options = {});

/// Computes X <- A^-1 X by tridiagonal_solve_checked, with a copy of X as B.
template <class T>
CheckedSolve tridiagonal_solve_in_place(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X,
                                        const TridiagonalOptions& options = {});

/// Checks and corrects an X that tridiagonal_solve computed with these options and this status. No other task may have
/// failed in g.
template <class T>
CheckedSolve tridiagonal_check(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
                               const TridiagonalOptions& options = {}, Status status = {});

}  // namespace tesela
