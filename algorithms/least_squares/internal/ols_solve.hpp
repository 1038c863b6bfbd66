#pragma once

#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace tesela::detail {

// From a triangle to the result of ols. `a` is A's shape; rcond is not 0.

/// Calls solve(graph, A, B, options) for a and b in the tiles of the method for their shapes.
template <class T, class F>
auto solve_in_tiles(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, OlsOptions options, const F& solve) {
  options.method = ols_method<T>(options.method, a.shape(), b.cols);
  const TileShape tile = ols_tile(runtime, options.method, a.shape());
  const auto A = a.in_tiles(runtime, tile, "A"), B = b.in_tiles(runtime, tile, "B");
  Graph g(runtime);
  return solve(g, A, B, options);
}

/// Returns X = R^-1 C if R, n x n, is clearly regular; otherwise calls ols_any_rank.
template <class T>
LeastSquares<T> ols_from_r(Graph& g, ExtendedQr<T> e, Shape a, const OlsOptions& options);

/// Reduces [A | B] to its triangle or trapezoid by any method; overwrites A and B.
template <class T>
ExtendedQr<T> reduce(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options);

/// Returns the triangle of [diag(d) A | diag(d) B] for each column d of D, or of [A | B] if D has no columns. A is read
/// once.
template <class T>
std::vector<ExtendedQr<T>> reduce(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& D,
                                  index_t rows);

/// Returns the parts of [A | B] by LAPACK on the calling thread; overwrites a and b.
template <class T>
ExtendedQr<T> reduce_here(const MatrixView<T>& a, const MatrixView<T>& b);

/// Returns rcond, or its default max(m, n) eps for 0. Throws ArgumentError if it is not in [0, 1).
template <class T>
double default_rcond(const char* routine, const OlsOptions& options, index_t m, index_t n) {
  require(options.rcond >= 0 && options.rcond < 1, routine, "rcond", shortest(options.rcond), " is not in [0, 1)");
  return options.rcond > 0
             ? options.rcond
             : static_cast<double>(std::max(m, n)) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

/// Throws ArgumentError if the rows of B or their tiles differ from A's.
template <class T>
void require_conforming(const char* routine, const TileMatrix<T>& A, const TileMatrix<T>& B);

/// Returns X = 0 for a problem without rows or columns, or without rows that count.
template <class T>
LeastSquares<T> solve_empty(const TileMatrix<T>& B, index_t n);

/// Solves by minimum_norm: R may have any rank, and may be a trapezoid.
template <class T>
LeastSquares<T> ols_any_rank(ExtendedQr<T> e, Shape a, double rcond);

/// Computes condition, X and residual norms without moving R or B from a GPU. B holds Q^H B. Returns nothing without
/// GPUs, if A's R does not lie in one tile row, or if R is not clearly regular.
template <class T>
std::optional<LeastSquares<T>> ols_on_device(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, double rcond);

/// Returns the result for r right-hand sides if a number was not finite.
template <class T>
LeastSquares<T> not_finite(index_t r);

/// Returns whether a triangle of this condition certainly has full rank. The estimate may be several times too small,
/// and its norm differs from that of the pivoted factorization.
inline bool clearly_regular(double condition, double rcond) { return 10 * rcond * condition < 1; }

/// Returns the same for the estimate of spectral_condition, which uses the 2-norm and is hardly too small.
inline bool regular_by_spectrum(double condition, double rcond) { return 2 * rcond * condition < 1; }

/// Returns the same for a triangle R in host memory, zeros below, from its 1-norm condition number with columns of unit
/// norm. This number may exceed the 2-norm condition by a factor n, too much in single precision; then the 2-norm
/// decides.
template <class T>
bool regular(const HostMatrix<T>& R, double condition, double rcond);

/// Computes X(j, k) = 2^(of_c[k] - of_row(j)) X(j, k), which undoes the scaling of the right-hand sides and of R.
template <class T>
void unscale(HostMatrix<T>& X, const std::vector<int>& of_c, const auto& of_row) {
  for (index_t k = 0; k < X.cols(); ++k)
    for (index_t j = 0; j < X.rows(); ++j)
      X(j, k) = times_power_of_two(X(j, k), of_c[static_cast<std::size_t>(k)] - of_row(j));
}

}  // namespace tesela::detail
