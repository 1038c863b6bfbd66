#pragma once

#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>

#include <functional>
#include <optional>

namespace tesela::detail {

/// A X = B with fewer rows than columns, A^H = Q R, by products on tiles or on the calling thread.
template <class T>
struct WideSystem {
  Shape shape;                                                             ///< of A, m x n
  std::function<void(HostMatrix<T>& X)> apply_q;                           ///< computes X <- Q X, X n x r
  std::function<void(HostMatrix<T>& C, const HostMatrix<T>& X)> subtract;  ///< computes C <- C - A X
};

/// Returns the solution of least norm X = Q [R^-H B; 0] from R (m x m) and C = B, corrected by its residual if that is
/// above rounding. Returns nothing if R is not clearly regular.
template <class T>
std::optional<LeastSquares<T>> solve_wide_system(Graph& g, ExtendedQr<T> e, const WideSystem<T>& system, double rcond);

/// Returns the least-squares solution of least norm for m < n, of any rank, by LAPACK on the calling thread; overwrites
/// a and b.
template <class T>
LeastSquares<T> solve_wide_here(Graph& g, const MatrixView<T>& a, const MatrixView<T>& b, double rcond);

}  // namespace tesela::detail
