#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/toeplitz/toeplitz.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

enum class ToeplitzMethod : std::uint8_t {
  automatic,         ///< one after the other, until a residual is at rounding level
  levinson,          ///< levinson()
  gohberg_semencul,  ///< GohbergSemencul
  lookahead,         ///< CauchyInverse
  cauchy,            ///< CauchyFactorization
  gradients,         ///< ToeplitzGradients
};

/// All of them, `auto` first.
std::span<const Named<ToeplitzMethod>> toeplitz_methods();
const char* toeplitz_method_name(ToeplitzMethod method);
/// Throws ArgumentError where none has this name.
ToeplitzMethod toeplitz_method(const std::string& name);

struct ToeplitzSolveOptions {
  ToeplitzMethod method = ToeplitzMethod::automatic;
  bool verdict = true;  ///< measure also what a method does not need for itself: Levinson's residual, the condition
};

/// How one method fared.
struct ToeplitzAttempt {
  ToeplitzMethod method = ToeplitzMethod::automatic;
  /// max_j ||(T - sigma I) x(j) - b(j)|| / (||T - sigma I|| ||x(j)|| + ||b(j)||), the norm of the matrix being
  /// toeplitz_norm_bound's, and toeplitz_residual_bound(n); 1 at a breakdown, NaN where it was not measured.
  Measured residual;
  index_t order = 0;                ///< of the leading minor, or of the pivot, that vanished; 0 if none did
  std::optional<index_t> negative;  ///< pivots: T's eigenvalues below sigma, where nothing broke down
  std::optional<double> growth;     ///< of a recursion's numbers
  bool usable() const { return order == 0 && residual.error < 1; }
};

struct ToeplitzSolution {
  ToeplitzAttempt taken;                  ///< whose X was left
  std::vector<ToeplitzAttempt> attempts;  ///< in their order; more than one with `automatic` only
  /// An estimate, from below, of ||T - sigma I||_1 ||(T - sigma I)^-1||_1; NaN where there is none.
  double condition = std::numeric_limits<double>::quiet_NaN();
  double rounding = 0;         ///< of one number of X, relative: where the residual is less, it is this that counts
  double verdict_seconds = 0;  ///< for the condition and Levinson's residual
  std::string failure;         ///< why X solves nothing, but for a large residual; empty where there is no reason

  /// ||x - exact|| / ||exact|| is about this at most, in the 1-norm and to first order: the condition times twice the
  /// residual, or times a rounding.
  Measured forward_bound() const { return {2 * condition * std::max(taken.residual.error, rounding), useful_bound}; }
  bool ok() const {
    return failure.empty() && taken.residual.good() && (std::isnan(condition) || forward_bound().good());
  }
  /// "ok", or why not.
  std::string status() const;
};

/// The residual that a solution of order n may have and be called accurate.
template <class T>
double toeplitz_residual_bound(index_t n);

/// From this condition on a matrix counts as singular to working precision, hardly a digit of X need be right: the
/// eliminations call a pivot of 16 roundings of the norm nothing, too.
template <class T>
constexpr double toeplitz_singular_condition() {
  return 1 / 16.0 / static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// B <- (T - sigma I)^-1 B, n x k, in one tile; waits.
///
/// `automatic` begins with gradients from n = 2^15 on (beside GPUs 2^17), where n^2 operations take longer; then with
/// gohberg_semencul, the fastest of the others that refine, and goes on to lookahead, to cauchy (or, after a breakdown,
/// to a perturbed lookahead), and in the end to levinson, while the residual is above a few roundings; what is left in
/// B is the best of them. Each method brings T - sigma I and each column of B to size 1 by powers of two, so that X has
/// the same digits at every size. Throws ArgumentError where tiles do not fit, or n exceeds levinson_most for a
/// recursion that was asked for.
template <class T>
ToeplitzSolution toeplitz_solve(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& B,
                                const ToeplitzSolveOptions& options = {});

}  // namespace tesela
