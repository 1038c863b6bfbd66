#pragma once

#include <tesela/algorithms/least_squares/internal/row_classes.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <optional>

namespace tesela::detail {

/// Solves min ||D (A x - b)||_2 with D = diag(sum over classes k of 2^exponents[k] factors(:, k)). May overwrite A and
/// B. options.rcond is not 0.
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const RowClasses<T>& d,
                                  const OlsOptions& options);
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const RowClasses<T>& d,
                                  const OlsOptions& options);

/// Solves min ||D (A x - b)||_2 with D^2 = diag(weights), weights m x 1. Returns nothing, and leaves A and B unchanged,
/// if the roots of the weights lie in several classes, a number is not finite, or all weights are 0.
template <class T>
std::optional<LeastSquares<T>> solve_one_weight_class(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                      const TileMatrix<T>& weights, const OlsOptions& options);

}  // namespace tesela::detail
