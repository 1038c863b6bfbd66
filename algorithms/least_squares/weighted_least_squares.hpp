#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <vector>

namespace tesela {

/// Weighted least squares, X = argmin sum_i w_i (A x - b)_i^2 column by column, with w_i = 1 / variance of row i: `ols`
/// on rows that are multiplied by sqrt(w_i) on their way. A row of weight 0 does not count, whatever it holds. If no
/// row counts, the rank is 0, which is deficient, and X is zero.
///
/// Where square roots differ by more than 2^8 (single: 2^4), rows of like weights become triangles of their own, and
/// join_graded_rows() joins those: each row then has errors of its own size, however far the weights are apart, and
/// the rank is that of rows brought to one size. rank, condition and backward_error are of that triangle;
/// residual_norms are weighted, sqrt(sum_i w_i r_i^2), and degrees_of_freedom counts rows of positive weight.
///
/// Weights that are tame cost a pass over themselves, on any worker; others are looked at by one core.
///
/// A and B as for `ols`; they may be overwritten. Throws ArgumentError for weights that are not m, and for one that is
/// negative, NaN or infinite, which it names.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const std::vector<T>& weights, const OlsOptions& options = {});

/// The same of weights in a matrix, m x 1 and cut as A's rows, which may be on a GPU.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const TileMatrix<T>& weights, const OlsOptions& options = {});

/// The same in one pass over an A in a file, as `ols`: one for each class of weights that a block of rows has.
template <class T>
[[nodiscard]] LeastSquares<T> wls(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                  const std::vector<T>& weights, const OlsOptions& options = {});

}  // namespace tesela
