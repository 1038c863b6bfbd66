#pragma once

#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <vector>

namespace tesela {

/// V = (R^T R)^-1 = (A^T A)^-1 from the triangle that an answer kept (OlsOptions::keep_triangle), n x n, without
/// forming R^T R: the covariance of the unknowns where the errors of the (weighted) observations have variance 1. Times
/// residual_norm^2 / degrees_of_freedom where that is not known. 0 x 0 where the answer kept no triangle: a deficient
/// rank leaves unknowns undetermined. Waits for the graph, and throws as Graph::wait does.
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const LeastSquares<T>& answer);

/// The square roots of V's diagonal, from R^-1 alone; empty where covariance() is. What V overflows for, this may hold.
template <class T>
[[nodiscard]] std::vector<T> standard_errors(Graph& g, const LeastSquares<T>& answer);

/// The same of a generalized answer, and of a model's (GlmOptions::keep_spread): V = L L^T by its spread L, for a u of
/// variance 1. V is (A^T (B B^T)^-1 A)^-1; if B B^T is singular, it is G B B^T G^T with G A = I of the least ||G B||_F,
/// the covariance of the best linear unbiased estimate. 0 x 0 and empty where the answer kept none.
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const GeneralizedLeastSquares<T>& answer);
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const Glm<T>& answer);
template <class T>
[[nodiscard]] std::vector<T> standard_errors(Graph& g, const GeneralizedLeastSquares<T>& answer);
template <class T>
[[nodiscard]] std::vector<T> standard_errors(Graph& g, const Glm<T>& answer);

}  // namespace tesela
