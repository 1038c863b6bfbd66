#pragma once

#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <cmath>
#include <optional>
#include <vector>

namespace tesela::detail {

// From a triangle to the answer of ols. a is A's shape; rcond is settled.

/// X = R^-1 C where R, n x n, is clearly regular, else as ols_any_rank.
template <class T>
LeastSquares<T> ols_from_r(Graph& g, ExtendedQr<T> e, Shape a, double rcond);

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

/// Measures X against op(R) X = C and lets the status follow.
template <class T>
void judge(LeastSquares<T>& answer, const HostMatrix<T>& op_r, const HostMatrix<T>& X, const HostMatrix<T>& C, Shape a);

/// X = 2^e X, column by column, where e is what the right-hand sides were scaled by and R was.
template <class T>
void unscale(HostMatrix<T>& X, const std::vector<int>& of_c, const auto& of_row) {
  for (index_t k = 0; k < X.cols(); ++k)
    for (index_t j = 0; j < X.rows(); ++j) X(j, k) = std::ldexp(X(j, k), of_c[static_cast<std::size_t>(k)] - of_row(j));
}

}  // namespace tesela::detail
