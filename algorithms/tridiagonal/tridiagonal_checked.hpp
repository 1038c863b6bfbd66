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

/// The same of the system whose rows and columns are scaled by powers of two (TridiagonalExponents), which sees rows
/// and columns that others of larger scale hide; of an elimination that minds them below 3 eps in the same systems. The
/// largest component-wise residual, |A x - b|_i / (|A| |x| + |b|)_i, is never less: below this bound it will do.
template <class T>
inline constexpr double tridiagonal_equilibrated_bound = 1000.0 * std::numeric_limits<T>::epsilon();

/// How much X changes when A and B do.
struct TridiagonalCondition {
  /// The largest of ||A^-1 E (|A| |x| + |b|)|| / ||x|| in the maximum norm, E a random diagonal near +-1: eps times
  /// this is about the relative error of x that rounding of A and b alone makes. Infinite if A is singular. If the
  /// diagonals of all systems dominate, a bound of it.
  double value = 0;
  index_t system = 0;  ///< which has that

  /// Whether A is singular to working precision: no digit of X need be right.
  template <class T>
  bool singular() const {
    return !(value * static_cast<double>(std::numeric_limits<T>::epsilon()) <= 1);
  }
};

/// What tridiagonal_solve_checked found out.
struct CheckedSolve {
  /// tridiagonal_solve's, i + 1 + n s: where a system is singular, or something not finite. ok() says that X is there;
  /// good(), that it is right.
  Status status;
  bool input_finite = true;  ///< false: it is A or B that is not finite, there
  Measured residual{};       ///< the largest; of the systems whose rows are scaled
  /// The largest; of a system whose component-wise residual is within the bound, that.
  Measured residual_equilibrated{};
  double residual_componentwise = 0;  ///< the largest
  index_t system = 0;                 ///< which has that
  index_t other_scaling = 0;          ///< systems that were solved better with equilibrate the other way
  index_t corrected = 0;              ///< systems that took a correction by their residual
  int attempts = 0;                   ///< solves after the first
  TridiagonalCondition condition = {};

  bool good() const { return status.ok() && residual.good() && residual_equilibrated.good(); }
};

/// Whether X has two correct digits at least, as far as its residuals and its condition show.
template <class T>
bool tridiagonal_trustworthy(const CheckedSolve& solve) {
  const double error = std::max<double>(solve.residual_equilibrated.error, std::numeric_limits<T>::epsilon());
  return solve.good() && solve.condition.value * error <= 0.01;
}

/// Says in words why a solve with a status that is ok() is not trustworthy, with its figures.
std::string description(const CheckedSolve& solve);

/// X <- A^-1 B (tridiagonal_solve), measured and mended. B stays. Where the residual of a system is above its bounds,
/// or an elimination broke down, all are solved again, with options.equilibrate the other way; what is above them still
/// is corrected by the solution of A Y = B - A X, with and without equilibration in turn. Each system keeps the X of
/// the least component-wise residual. The first solve costs what it costs without, and measuring one more pass over A,
/// B and X; attempts take copies of all, and cores, without which the first X is measured only. The condition takes two
/// more solves (tridiagonal_condition), but none if the diagonals of all systems dominate.
///
/// Shapes and tiles as for tridiagonal_solve, X's being B's. Waits for the result, and before that for what g holds
/// already: where that failed, its status is the answer. Throws ArgumentError when shapes do not fit.
template <class T>
CheckedSolve tridiagonal_solve_checked(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const TileMatrix<T>& X, const TridiagonalOptions& options = {});

/// The condition of A X = B at this X. If |d| is above |dl| + |du| in every row, the least difference bounds it (J. M.
/// Varah, Linear Algebra Appl. 11, 1975). If that says little, two solves for random right-hand sides of the size of
/// rounding errors estimate it, with copies of A, B and X (Kenney and Laub's small samples, SIAM J. Sci. Comput. 15,
/// 1994). Waits for the graph. Throws ArgumentError when shapes do not fit.
template <class T>
TridiagonalCondition tridiagonal_condition(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                           const TileMatrix<T>& X, const TridiagonalOptions& options = {});

/// X <- A^-1 X by tridiagonal_solve_checked, with a copy of X as B.
template <class T>
CheckedSolve tridiagonal_solve_in_place(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X,
                                        const TridiagonalOptions& options = {});

/// The same from an X that tridiagonal_solve left with these options, and the status of that. Nothing else may have
/// failed in g.
template <class T>
CheckedSolve tridiagonal_check(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& X,
                               const TridiagonalOptions& options = {}, Status status = {});

}  // namespace tesela
