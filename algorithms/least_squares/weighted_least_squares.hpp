#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <vector>

namespace tesela {

/// Solves the weighted least-squares problem X = argmin sum_i w_i |A x - b|_i^2, column by column, with w_i = 1 /
/// variance of row i.
///
/// A, B     as for `ols`; may be overwritten.
/// weights  m real numbers. A row of weight 0 is ignored, even if it contains NaN. If all weights are 0, the rank is 0
/// and X
///          is zero.
/// Returns  as `ols`; residual_norms are sqrt(sum_i w_i |r_i|^2), and degrees_of_freedom counts rows of positive
/// weight. Throws   ArgumentError if the number of weights is not m, or if one is negative, NaN or infinite (the
/// message names it);
///          as `ols`.
/// Waits    for the graph.
/// Method   `ols` on rows multiplied by sqrt(w_i). If these factors differ by more than 2^8 (single precision: 2^4),
///          rows of similar weights form classes. Each class is reduced to its own triangle, and join_graded_rows()
///          joins the triangles: errors are relative to each row, and the rank is decided on rows of one size. rank,
///          condition and backward_error then belong to the joined triangle. Weights of one class cost one pass over
///          the weights on any worker; others are examined by one core.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const std::vector<real_t<T>>& weights, const OlsOptions& options = {});

/// Solves the problem for weights in a matrix, m x 1 and cut as A's rows, which may be on a GPU.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const TileMatrix<real_t<T>>& weights, const OlsOptions& options = {});

/// Solves the problem for matrices in memory: chooses the method and the tiles, and waits. a and b may be on a device;
/// they are overwritten.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                  const std::vector<real_t<T>>& weights, const OlsOptions& options = {});

/// Solves the problem for an A in a file, which is read once; a block of rows is reduced once per class of its weights.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                  const std::vector<real_t<T>>& weights, const OlsOptions& options = {});

}  // namespace tesela
