#pragma once

#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <vector>

namespace tesela {

/// Returns V = (R^T R)^-1 = (A^T A)^-1, n x n, from the triangle kept in `answer` (OlsOptions::keep_triangle), without
/// forming R^T R: the covariance of the unknowns if errors of the (weighted) observations have variance 1. If the
/// variance is not known, multiply by residual_norm^2 / degrees_of_freedom. 0 x 0 if no triangle was kept, as for a
/// deficient rank, which leaves unknowns undetermined. Waits for the graph, and throws as Graph::wait does.
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const LeastSquares<T>& answer);

/// Returns the square roots of V's diagonal, from R^-1 alone; empty if covariance() is. May be finite if V overflows.
template <class T>
[[nodiscard]] std::vector<T> standard_errors(Graph& g, const LeastSquares<T>& answer);

/// Return the same for generalized least squares and for a model (GlmOptions::keep_spread): V = L L^T from the spread
/// L, for a u of variance 1. V is (A^T (B B^T)^-1 A)^-1; if B B^T is singular, it is G B B^T G^T with G A = I of the
/// least ||G B||_F, the covariance of the best linear unbiased estimate. 0 x 0 and empty if no spread was kept.
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const GeneralizedLeastSquares<T>& answer);
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const Glm<T>& answer);
template <class T>
[[nodiscard]] std::vector<T> standard_errors(Graph& g, const GeneralizedLeastSquares<T>& answer);
template <class T>
[[nodiscard]] std::vector<T> standard_errors(Graph& g, const Glm<T>& answer);

}  // namespace tesela
