#pragma once

#include <tesela/algorithms/eigen/internal/iterated_matrix.hpp>
#include <tesela/runtime/graph.hpp>

#include <vector>

namespace tesela::detail {

/// Unit vectors of A's eigenvalues, n x values.size(), by two steps of (A - l I) x = x each from random vectors, with
/// partial pivoting in double precision; then made orthogonal, one after the other (LAPACK stein does so within
/// clusters). A value is moved by a rounding error where A - l I is exactly singular. Waits.
template <class T>
HostMatrix<T> inverse_iteration(Graph& g, const IteratedMatrix<T>& a, const std::vector<double>& values);

}  // namespace tesela::detail
