#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

#include <optional>

namespace tesela::detail {

/// Largest order that the calling thread solves, without tasks: starting them takes longer.
inline constexpr index_t largest_small_toeplitz = 64;

/// Solves B = (T - sigma I)^-1 B on the calling thread by LU of the dense matrix in double precision, with one step of
/// refinement; T has the first column c and the first row r (null: it is symmetric).
///
/// B        n x k; becomes X, or stays unchanged if nothing is returned.
/// Returns  the solution with residual and condition. Nothing if the order is larger, other options than the defaults are
///          set, the memory is not the host's, a number is not finite, the condition is near that of a singular matrix or
///          the residual is above a few roundings: toeplitz_solve's methods then decide.
template <class T>
std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime& runtime, const HostMatrix<T>& c,
                                                    const HostMatrix<T>* r, T sigma, const MatrixView<T>& b,
                                                    const ToeplitzSolveOptions& options);

}  // namespace tesela::detail
