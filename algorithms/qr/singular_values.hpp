#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// Returns the singular values of A, m x n, descending; A is overwritten.
///
/// Waits    for the graph.
/// Throws   EnvironmentError if the iteration does not converge.
/// Method   LAPACK's gesvd for the triangle of the tile QR, or for A if it is wide or has fewer than 256 columns.
template <class T>
std::vector<T> singular_values(Runtime& runtime, HostMatrix<T>& A);

}  // namespace tesela
