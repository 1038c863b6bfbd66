#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/toeplitz/toeplitz.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Method of toeplitz_solve.
enum class ToeplitzMethod : std::uint8_t {
  automatic,         ///< tries methods one after another until a residual is at rounding level
  levinson,          ///< levinson(): little memory, no refinement, for well-conditioned leading minors
  gohberg_semencul,  ///< GohbergSemencul: fastest for well-conditioned leading minors of small order
  schur,             ///< the same from the Schur recursion by tiles, on all workers: fastest for large order
  lookahead,         ///< ToeplitzLookahead: for singular leading minors and for nonsymmetric matrices
  cauchy_inverse,    ///< CauchyInverse: for singular leading minors
  cauchy,            ///< CauchyFactorization: for large conditions; n^2 / 2 numbers of memory
  gradients,         ///< ToeplitzGradients: for large positive definite matrices
  superfast,         ///< ToeplitzSuperfast: for large matrices that are not positive definite
  dense,             ///< LU of the dense matrix: the last resort for a nonsymmetric one; n^2 numbers of memory
};

/// Returns the methods with their names, `auto` first; toeplitz_method_name returns the name of one.
std::span<const Named<ToeplitzMethod>> toeplitz_methods();
const char* toeplitz_method_name(ToeplitzMethod method);
/// Returns the method with this name. Throws ArgumentError if there is none.
ToeplitzMethod toeplitz_method(const std::string& name);

/// Options of toeplitz_solve.
struct ToeplitzSolveOptions {
  ToeplitzMethod method = ToeplitzMethod::automatic;
  /// Whether to measure values that a method does not need itself: Levinson's residual, the condition.
  bool verdict = true;
};

/// Result of one method.
struct ToeplitzAttempt {
  ToeplitzMethod method = ToeplitzMethod::automatic;
  /// max_j ||(T - sigma I) x(j) - b(j)|| / (||T - sigma I|| ||x(j)|| + ||b(j)||) with the norm of toeplitz_norm_bound,
  /// and its bound toeplitz_residual_bound(n). 1 for a breakdown, NaN if it was not measured.
  Measured residual;
  index_t order = 0;  ///< order of the leading minor, or index of the pivot, that vanished; 0 if none did
  /// Number of negative pivots, which is the number of T's eigenvalues below sigma; empty after a breakdown.
  std::optional<index_t> negative;
  std::optional<double> growth;         ///< growth of a recursion's numbers
  std::optional<index_t> largest_step;  ///< most orders that a step of lookahead passed; 1 without look-ahead
  /// Returns whether it did not break down and the residual is below 1.
  bool usable() const { return order == 0 && residual.error < 1; }
};

/// Result of toeplitz_solve, except X.
struct ToeplitzSolution {
  ToeplitzAttempt taken;                  ///< the attempt that produced X
  std::vector<ToeplitzAttempt> attempts;  ///< all attempts in their order; several only with `automatic`
  /// Estimate, from below, of ||T - sigma I||_1 ||(T - sigma I)^-1||_1; NaN if there is none.
  double condition = std::numeric_limits<double>::quiet_NaN();
  double rounding = 0;  ///< relative rounding error of a number of X; it replaces a smaller residual in forward_bound()
  double verdict_seconds = 0;  ///< seconds for the condition and Levinson's residual
  std::string failure;         ///< why X is not a solution, apart from a large residual; empty otherwise

  /// Returns an estimate of the largest ||x - exact|| / ||exact||, in the 1-norm and to first order: twice the
  /// condition times the residual, or times a rounding.
  Measured forward_bound() const { return {2 * condition * std::max(taken.residual.error, rounding), useful_bound}; }
  bool ok() const {
    return failure.empty() && taken.residual.good() && (std::isnan(condition) || forward_bound().good());
  }
  /// Returns "ok" or the reason of the failure.
  std::string status() const;
};

/// Returns the largest residual of an accurate solution of order n.
template <class T>
double toeplitz_residual_bound(index_t n);

/// Returns the condition from which a matrix counts as singular to working precision, because X may have no correct
/// digit. The eliminations treat a pivot below 16 roundings of the norm as zero.
template <class T>
constexpr double toeplitz_singular_condition() {
  return 1 / 16.0 / static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

/// Solves B = (T - sigma I)^-1 B.
///
/// B        n x k in one tile; overwritten by X.
/// Returns  the attempts, the residual and the condition.
/// Throws   ArgumentError if tiles do not conform, or if n exceeds levinson_most for a requested recursion.
/// Waits    for the graph.
/// Method   `automatic` starts with gradients if n >= 2^15 (with GPUs 2^17), where n^2 operations take longer. Then it
///          tries superfast (before or after the next one, by n), schur (for small n gohberg_semencul), cauchy_inverse,
///          lookahead (n up to 2^14), cauchy (or, after a breakdown, a perturbed cauchy_inverse), and finally levinson,
///          while the residual is above a few roundings; B receives the best solution. Each method scales T - sigma I
///          and each column of B to size 1 by powers of two, so that X has the same digits at every size.
template <class T>
ToeplitzSolution toeplitz_solve(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& B,
                                const ToeplitzSolveOptions& options = {});

/// Solves the same for arrays: b (n x k, on the host or on a device) is overwritten by X. Waits. A complex t has the
/// first row conj(t), as in SciPy: T is Hermitian if t(0) is real. The next function has the methods.
template <class T>
ToeplitzSolution toeplitz_solve(Runtime& runtime, const HostMatrix<T>& t, T sigma, MatrixView<T> b,
                                const ToeplitzSolveOptions& options = {});

/// Solves B = (T - sigma I)^-1 B for T(i, j) = t(i - j), real or complex, with first column c and first row r, n x 1;
/// r(0) is not read (SciPy solve_toeplitz).
///
/// B        n x k in one tile; overwritten by X.
/// Throws   ArgumentError as above, if c or r has another shape, and if T is not symmetric or complex and the method is
/// none of
///          `automatic`, `lookahead` and `dense`, or `gohberg_semencul` and `schur` for a complex Hermitian T.
/// Waits    for the graph.
/// Method   toeplitz_solve of c if r equals c and is real. Otherwise `automatic` is, while the residual is above a few
///          roundings, gohberg_semencul or schur if T is Hermitian, lookahead, and dense if n^2 numbers need at most 1
///          GB.
template <class T>
ToeplitzSolution toeplitz_solve(Graph& g, const HostMatrix<T>& c, const HostMatrix<T>& r, T sigma,
                                const TileMatrix<T>& B, const ToeplitzSolveOptions& options = {});
template <class T>
ToeplitzSolution toeplitz_solve(Runtime& runtime, const HostMatrix<T>& c, const HostMatrix<T>& r, T sigma,
                                MatrixView<T> b, const ToeplitzSolveOptions& options = {});

}  // namespace tesela
