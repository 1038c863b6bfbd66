#pragma once

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

}  // namespace tesela
