#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace tesela {

/// Bound of the residual ||A x - b|| / (||A|| ||x|| + ||b||) of an accurate X in maximum norms, for every n.
/// Elimination with pivoting stays below 2 eps in thousands of systems of 15 kinds.
template <class T>
inline constexpr double tridiagonal_residual_bound = 64.0 * std::numeric_limits<real_t<T>>::epsilon();

/// Bound of the residual of the system with rows and columns scaled by powers of two (TridiagonalExponents), which
/// shows errors in rows and columns of small scale. Elimination of the scaled system stays below 3 eps. The largest
/// component-wise residual, |A x - b|_i / (|A| |x| + |b|)_i, is an upper bound of it: if it is within the bound, it
/// suffices.
template <class T>
inline constexpr double tridiagonal_equilibrated_bound = 1000.0 * std::numeric_limits<real_t<T>>::epsilon();

/// Sensitivity of X to changes of A and B.
struct TridiagonalCondition {
  /// Largest ||A^-1 E (|A| |x| + |b|)|| / ||x|| of all systems in the maximum norm, E a random diagonal matrix with
  /// elements near +-1. eps times this value is about the relative error of x from rounding A and b. Infinite if A is
  /// singular; an upper bound if the diagonals of all systems dominate.
  double value = 0;
  index_t system = 0;  ///< the system with this value

  /// Returns whether A is singular to working precision: X may have no correct digit.
  template <class T>
  bool singular() const {
    return !(value * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) <= 1);
  }
};

/// Result of tridiagonal_solve_checked.
struct CheckedSolve {
  /// Status of tridiagonal_solve, i + 1 + n s: the place where a system is singular or a number is not finite. If ok(),
  /// X exists; if good(), X is accurate.
  Status status;
  bool input_finite = true;  ///< false if A or B is not finite at the place of the status
  Measured residual{};       ///< largest residual of the systems with scaled rows
  /// Largest residual of the equilibrated systems. If a system's component-wise residual is within the bound, it is
  /// used instead.
  Measured residual_equilibrated{};
  double residual_componentwise = 0;  ///< largest component-wise residual
  index_t system = 0;                 ///< the system with this residual
  index_t other_scaling = 0;          ///< systems whose best solution used the other value of options.equilibrate
  index_t corrected = 0;              ///< systems that were corrected
  int attempts = 0;                   ///< solves after the first
  TridiagonalCondition condition = {};

  /// Returns whether X exists and both residuals are within their bounds.
  bool good() const { return status.ok() && residual.good() && residual_equilibrated.good(); }
};

/// Returns whether X has at least two correct digits, by its residuals and its condition.
template <class T>
bool tridiagonal_trustworthy(const CheckedSolve& solve) {
  const double error = std::max<double>(solve.residual_equilibrated.error, std::numeric_limits<real_t<T>>::epsilon());
  return solve.good() && solve.condition.value * error <= 0.01;
}

/// Describes in words why a solve with an ok() status is not trustworthy, with residual or condition.
std::string description(const CheckedSolve& solve);

/// Computes X = A^-1 B (tridiagonal_solve), measures its residuals and corrects it.
///
/// A, B     shapes and tiles as for tridiagonal_solve; not changed.
/// X        shape and tiles as B; overwritten.
/// Returns  status, residuals and condition.
/// Throws   ArgumentError if shapes do not conform.
/// Waits    for earlier tasks of g, whose failure becomes the status, and for the result.
/// Method   If the residual of a system exceeds its bounds, or an elimination broke down, all systems are solved again
///          with options.equilibrate inverted. Systems that still exceed the bounds are corrected by the solution of A
///          Y = B - A X, alternately with and without equilibration. Each system keeps the X with the least
///          component-wise residual. Measuring costs one pass over A, B and X. Attempts need copies of all three.
///          Equilibration needs cores; without cores, systems are only corrected without it. The condition needs two
///          solves (tridiagonal_condition), or none if the diagonals of all systems dominate.
template <class T>
CheckedSolve tridiagonal_solve_checked(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const TileMatrix<T>& X, const TridiagonalOptions& options = {});

/// Returns the condition of A X = B at this X.
///
/// Throws  ArgumentError if shapes do not conform.
/// Waits   for the graph.
/// Method  If |d| > |dl| + |du| in every row, the least difference bounds the condition (J. M. Varah, Linear Algebra
///         Appl. 11, 1975). If this bound is large, two solves for random right-hand sides of the size of rounding
///         errors estimate it, with copies of A, B and X (Kenney and Laub's small samples, SIAM J. Sci. Comput. 15,
///         1994).
template <class T>
TridiagonalCondition tridiagonal_condition(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                           const TileMatrix<T>& X, const TridiagonalOptions& options = {});

/// Solves B = A^-1 B for arrays by tridiagonal_solve_checked: chooses the tiles, and waits.
///
/// dl, d, du  n x k, or n x 1 for one matrix (with systems in rows k x n or 1 x n), on the host or on one device; only
///            read.
/// b          n x k, or k x n; overwritten by X.
/// Throws     ArgumentError if shapes do not conform.
template <class T>
CheckedSolve tridiagonal_solve(Runtime& runtime, MatrixView<const T> dl, MatrixView<const T> d, MatrixView<const T> du,
                               MatrixView<T> b, const TridiagonalOptions& options = {});

/// Measures and corrects an X that tridiagonal_solve computed with these options and this status. No other task of g
/// may have failed.
template <class T>
CheckedSolve tridiagonal_check(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
                               const TridiagonalOptions& options = {}, Status status = {});

}  // namespace tesela
