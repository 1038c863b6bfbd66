#pragma once

#include <tesela/algorithms/least_squares/least_squares.hpp>

namespace tesela {

/// Solves the nonnegative least-squares problem X = argmin ||A x - b||_2 subject to x >= 0, column by column, for any m
/// x n A.
///
/// A, B     m x n and m x r as for `ols`; overwritten, except by tall_skinny.
/// Returns  X with exact zeros at the bound, and the rank and condition of A. backward_error is the measured violation
///          of the Karush-Kuhn-Tucker conditions in the factored problem (NormalResidual::Result::nonnegative_error).
///          The product A X is unique. If the rank is below n, X may not be; each column of X has at most `rank`
///          positive elements, and no least norm.
/// Throws   ArgumentError as `ols`; as Graph::wait.
/// Waits    for the graph.
/// Method   The graph reduces [A | B] to its triangle by any method of `ols`. The active-set method works on the
///          triangle, with one core for each column of B (Lawson and Hanson, "Solving Least Squares Problems", 23.3):
///          reflectors and rotations keep the columns with x_j > 0 triangular. A column enters if its gradient is above
///          rounding and its distance from the span of these columns is above rcond times its norm. Powers of two as
///          factors of A's columns or of B's change X by powers of two only.
template <class T>
[[nodiscard]] LeastSquares<T> nnls(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                   const OlsOptions& options = {});

/// Solves the problem for matrices in memory: chooses the method and the tiles, and waits. a and b may be on a device;
/// they are overwritten.
template <class T>
[[nodiscard]] LeastSquares<T> nnls(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const OlsOptions& options = {});

/// Solves the problem for an A in a file, which is read once. B is m x r.
template <class T>
[[nodiscard]] LeastSquares<T> nnls(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                   const OlsOptions& options = {});

}  // namespace tesela
