#pragma once

#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/runtime/shortest.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tesela::detail {

// From a triangle to the answer of ols. a is A's shape; rcond is settled.

/// X = R^-1 C where R, n x n, is clearly regular, else as ols_any_rank.
template <class T>
LeastSquares<T> ols_from_r(Graph& g, ExtendedQr<T> e, Shape a, const OlsOptions& options);

/// The triangle or trapezoid of [A | B] by any method, at home; A and B are lost.
template <class T>
ExtendedQr<T> reduce(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options);

/// The triangles of [diag(d) A | diag(d) B], one for each column d of D, or of [A | B] where D has no columns: A is
/// read once.
template <class T>
std::vector<ExtendedQr<T>> reduce(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& D,
                                  index_t rows);

/// Throws ArgumentError unless rcond is in [0, 1), and answers its default where it is 0.
template <class T>
double settled_rcond(const char* routine, const OlsOptions& options, index_t m, index_t n) {
  if (!(options.rcond >= 0 && options.rcond < 1))
    throw ArgumentError(routine, "rcond", shortest(options.rcond) + " is not in [0, 1)");
  return options.rcond > 0
             ? options.rcond
             : static_cast<double>(std::max(m, n)) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Throws ArgumentError unless B's rows are A's, cut as those.
template <class T>
void require_conforming(const char* routine, const TileMatrix<T>& A, const TileMatrix<T>& B);

/// No rows or no columns, or none that count: X is zero.
template <class T>
LeastSquares<T> solve_empty(const TileMatrix<T>& B, index_t n);

/// By minimum_norm: R may be of any rank, and a trapezoid.
template <class T>
LeastSquares<T> ols_any_rank(ExtendedQr<T> e, Shape a, double rcond);

/// With GPUs, where A's R lies in one row of tiles: condition, X and residual norms without bringing R or B home; B
/// holds Q^T B. Nothing where that does not apply or R is not clearly regular.
template <class T>
std::optional<LeastSquares<T>> ols_in_place(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, double rcond);

/// The answer for r right-hand sides where something was not finite.
template <class T>
LeastSquares<T> not_finite(index_t r);

/// Whether a triangle of this condition is of full rank beyond doubt: the estimate may be several times too small, and
/// it is in another norm than the pivoted factorization's.
inline bool clearly_regular(double condition, double rcond) { return 10 * rcond * condition < 1; }

/// The same of spectral_condition's estimate, which is in the norm that counts and hardly too small.
inline bool regular_by_spectrum(double condition, double rcond) { return 2 * rcond * condition < 1; }

/// The same of a triangle R in host memory, zeros below, whose 1-norm condition number with columns of unit norm this
/// is: that may be n times the one that counts, too much in single precision.
template <class T>
bool regular(const HostMatrix<T>& R, double condition, double rcond);

/// X = 2^e X, column by column, where e is what the right-hand sides were scaled by and R was.
template <class T>
void unscale(HostMatrix<T>& X, const std::vector<int>& of_c, const auto& of_row) {
  for (index_t k = 0; k < X.cols(); ++k)
    for (index_t j = 0; j < X.rows(); ++j) X(j, k) = std::ldexp(X(j, k), of_c[static_cast<std::size_t>(k)] - of_row(j));
}

}  // namespace tesela::detail
