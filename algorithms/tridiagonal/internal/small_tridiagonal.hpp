#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_refinement.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace tesela::detail {

/// Returns a bound of the condition if the diagonal dominates each row: ||A^-1|| is at most 1 / margin (Varah 1975).
/// Returns nothing otherwise, or if the bound is large.
template <class T>
std::optional<TridiagonalCondition> dominant_condition(
    const std::vector<kernels::tridiagonal::SystemResidual<T>>& all) {
  constexpr double factor = 1.5;  // of a probe
  TridiagonalCondition result;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto margin = static_cast<double>(all[s].margin), x = static_cast<double>(all[s].solution),
               b = static_cast<double>(all[s].right), a = static_cast<double>(all[s].matrix);
    if (x == 0 && b == 0) continue;
    const double bound = factor * (a + b / x) / margin;
    if (!(margin > 0 && bound * static_cast<double>(std::numeric_limits<T>::epsilon()) <= 1e-4)) return std::nullopt;
    if (bound > result.value) result = {bound, static_cast<index_t>(s)};
  }
  return result;
}

/// Raises the condition to the systems' largest condition after a solve for probes: of_x has the measures of X with its
/// probe, of_y of the probe's solution. It is infinite if the solve failed.
template <class T>
void raise_condition(TridiagonalCondition& result, bool solved,
                     const std::vector<kernels::tridiagonal::SystemResidual<T>>& of_x,
                     const std::vector<kernels::tridiagonal::SystemResidual<T>>& of_y) {
  for (std::size_t s = 0; s < of_x.size(); ++s) {
    const double factor = static_cast<double>(of_x[s].correction) * static_cast<double>(of_x[s].solution);
    double condition = static_cast<double>(of_y[s].solution) / factor;
    if (of_x[s].residual == T(0)) condition = 0;  // x and b are 0
    if (!solved || std::isnan(condition)) condition = std::numeric_limits<double>::infinity();
    if (condition > result.value) result = {condition, static_cast<index_t>(s)};
  }
}

/// Solves A X = B on the calling thread, by the kernels of tridiagonal_solve and its check.
///
/// b        becomes X, or stays unchanged if nothing is returned.
/// Returns  the solution with its errors and condition; nothing if tasks should solve the problem: it is larger, its
///          systems lie in rows, a pivot or an element is not finite, or an error is above its bound.
template <class T>
std::optional<CheckedSolve> tridiagonal_solve_here(const Runtime& runtime, MatrixView<const T> dl,
                                                   MatrixView<const T> d, MatrixView<const T> du, MatrixView<T> b,
                                                   const TridiagonalOptions& options);

}  // namespace tesela::detail
