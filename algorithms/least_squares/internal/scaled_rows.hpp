#pragma once

#include <tesela/algorithms/least_squares/internal/row_classes.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <optional>

namespace tesela::detail {

/// min ||D (A x - b)||_2 with D = diag(sum over classes k of 2^exponents[k] factors(:, k)). A and B may be lost;
/// options.rcond is settled.
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const RowClasses<T>& d,
                                  const OlsOptions& options);
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const RowClasses<T>& d,
                                  const OlsOptions& options);

/// min ||D (A x - b)||_2 with D^2 = diag(weights), weights m x 1, where their roots lie in one class, nothing is NaN or
/// infinite and some row counts. Nothing otherwise: then A and B are what they were.
template <class T>
std::optional<LeastSquares<T>> solve_tame_weights(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                  const TileMatrix<T>& weights, const OlsOptions& options);

}  // namespace tesela::detail
