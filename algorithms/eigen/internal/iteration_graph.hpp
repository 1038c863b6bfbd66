#pragma once

#include <tesela/algorithms/eigen/internal/iteration_loop.hpp>

namespace tesela::detail {

/// Returns whether iterate_by_tiles supports this problem: rotations, reflectors or Cholesky, without shifts and
/// deflation.
bool supports_tiles(index_t n, index_t half_width, const EigIterationOptions& options);

/// Iterates by a graph of tiles; reads the stop test every few steps.
template <class T>
Iterated<T> iterate_by_tiles(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options);

}  // namespace tesela::detail
