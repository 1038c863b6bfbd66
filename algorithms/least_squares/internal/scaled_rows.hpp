#pragma once

#include <tesela/algorithms/least_squares/internal/row_classes.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

namespace tesela::detail {

/// min ||D (A x - b)||_2 with D = diag(sum over classes k of 2^exponents[k] factors(:, k)). A and B may be lost;
/// options.rcond is settled.
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const RowClasses<T>& d,
                                  const OlsOptions& options);
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const RowClasses<T>& d,
                                  const OlsOptions& options);

}  // namespace tesela::detail
