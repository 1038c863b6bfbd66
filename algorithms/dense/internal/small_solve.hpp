#pragma once

#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>

#include <optional>
#include <span>

namespace tesela::detail {

/// Largest order of systems that the calling thread solves, without tasks: starting them takes longer.
inline constexpr index_t largest_small_order = 256;

/// Returns whether the calling thread should solve A X = B: A is small, in host memory, and B has few columns.
template <class T>
bool on_calling_thread(const Runtime& runtime, const MatrixView<T>& a, const MatrixView<T>& b) {
  return a.rows == a.cols && b.rows == a.rows && b.cols <= 4 * largest_small_order &&
         runs_here(runtime, static_cast<double>(a.rows), static_cast<double>(largest_small_order), a, b);
}

/// Runs lu_solve on the calling thread, by LAPACK. Returns nothing, and changes nothing, if the system should be
/// scaled.
template <class T>
std::optional<DirectSolve> lu_solve_here(const MatrixView<T>& a, const MatrixView<T>& b);

/// Runs cholesky_solve on the calling thread, by LAPACK.
template <class T>
DirectSolve cholesky_solve_here(const MatrixView<T>& a, std::span<const T> diagonal, const MatrixView<T>& b);

/// Factors A = R^T R on the calling thread, by LAPACK; elements below the diagonal become zero.
template <class T>
DirectSolve cholesky_here(const MatrixView<T>& a);

}  // namespace tesela::detail
