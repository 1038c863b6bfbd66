#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace tesela::detail {

/// Row factors, of a real T, in classes: row i is multiplied by 2^exponents[k] factors(i, k) for the one k with
/// factors(i, k) != 0; an ignored row has none. Exponents descend. Within a class factors differ by less than 2^8
/// (single precision: 2^4).
template <class T>
struct RowClasses {
  std::vector<int> exponents;
  HostMatrix<T> factors;  ///< m x classes
  index_t counted = 0;    ///< number of rows that count

  index_t classes() const { return factors.cols(); }
};

/// Largest range of factors within a class, as a power of two.
template <class T>
constexpr int class_width = std::is_same_v<real_t<T>, float> ? 4 : 8;

/// Returns the classes of the square roots of weights. Throws ArgumentError for a weight that is negative or not
/// finite.
template <class T>
RowClasses<T> weight_classes(const char* routine, const std::vector<T>& weights);

/// Returns the classes of row factors, which are finite and not negative.
template <class T>
RowClasses<T> row_classes(const std::vector<T>& scales);

/// Solves min ||D (A x - b)||_2 with D = diag(sum over classes k of 2^exponents[k] factors(:, k)). May overwrite A and
/// B. options.rcond is not 0.
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const RowClasses<real_t<T>>& d, const OlsOptions& options);
template <class T>
LeastSquares<T> solve_scaled_rows(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                  const RowClasses<real_t<T>>& d, const OlsOptions& options);

/// Solves min ||D (A x - b)||_2 with D^2 = diag(weights), weights m x 1. Returns nothing, and leaves A and B unchanged,
/// if the roots of the weights lie in several classes, a number is not finite, or all weights are 0.
template <class T>
std::optional<LeastSquares<T>> solve_one_weight_class(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                                      const TileMatrix<real_t<T>>& weights, const OlsOptions& options);

}  // namespace tesela::detail
