#pragma once

#include <tesela/algorithms/eigen/internal/iterated_matrix.hpp>
#include <tesela/runtime/graph.hpp>

#include <vector>

namespace tesela::detail {

/// Returns unit vectors of A's eigenvalues, n x values.size(): two steps of (A - l I) x = x from random vectors, with
/// partial pivoting in double precision, then orthogonalization from left to right (LAPACK stein orthogonalizes within
/// clusters). If A - l I is exactly singular, the value is changed by a rounding error. Waits for the graph.
template <class T>
HostMatrix<T> inverse_iteration(Graph& g, const IteratedMatrix<T>& a, const std::vector<double>& values);

}  // namespace tesela::detail
