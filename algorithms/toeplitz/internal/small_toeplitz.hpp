#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

#include <optional>

namespace tesela::detail {

/// Largest order that the calling thread solves, without tasks: starting them takes longer.
inline constexpr index_t largest_small_toeplitz = 128;

/// Solves B = (T - sigma I)^-1 B on the calling thread by LU of the dense matrix in double precision, with one step of
/// refinement; T has the first column c and the first row r (null: it is symmetric).
///
/// B        n x k; becomes X, or stays unchanged if nothing is returned.
/// Returns  the solution with residual and condition; nothing if toeplitz_solve's methods should decide, because the
/// order
///          is larger, options are set, B is on a device, a number is not finite, T is nearly singular, or the residual
///          is above a few roundings.
template <class T>
std::optional<ToeplitzSolution> toeplitz_solve_here(const Runtime& runtime, const HostMatrix<T>& c,
                                                    const HostMatrix<T>* r, T sigma, const MatrixView<T>& b,
                                                    const ToeplitzSolveOptions& options);

}  // namespace tesela::detail
