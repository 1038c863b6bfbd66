#pragma once

#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <vector>

namespace tesela {

/// Returns the covariance V = (R^H R)^-1 = (A^H A)^-1, n x n, of the unknowns, without forming R^H R.
///
/// answer   a solution with its triangle (OlsOptions::keep_triangle).
/// Returns  V for (weighted) observations with errors of variance 1; multiply by residual_norm^2 / degrees_of_freedom
///          if the variance is unknown. Complex errors e have the variance E|e|^2, the sum over their parts, and V is
///          Hermitian. 0 x 0 if no triangle was kept, for example because the rank is deficient.
/// Waits    for the graph; throws as Graph::wait.
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const LeastSquares<T>& answer);

/// Returns the square roots of the diagonal of V, computed from R^-1; empty if covariance() is 0 x 0. They may be
/// finite although V overflows.
template <class T>
[[nodiscard]] std::vector<real_t<T>> standard_errors(Graph& g, const LeastSquares<T>& answer);

/// Return covariance and standard errors for generalized least squares and for a model, if u has variance 1.
///
/// answer   a solution with its spread L (GlmOptions::keep_spread).
/// Returns  V = L L^H, which is (A^H (B B^H)^-1 A)^-1. If B B^H is singular, V = G B B^H G^H with G A = I and the least
///          ||G B||_F: the covariance of the best linear unbiased estimate. 0 x 0 or empty if no spread was kept.
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const GeneralizedLeastSquares<T>& answer);
template <class T>
[[nodiscard]] HostMatrix<T> covariance(Graph& g, const Glm<T>& answer);
template <class T>
[[nodiscard]] std::vector<real_t<T>> standard_errors(Graph& g, const GeneralizedLeastSquares<T>& answer);
template <class T>
[[nodiscard]] std::vector<real_t<T>> standard_errors(Graph& g, const Glm<T>& answer);

}  // namespace tesela
