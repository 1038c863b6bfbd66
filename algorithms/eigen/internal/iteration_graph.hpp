#pragma once

#include <tesela/algorithms/eigen/internal/iteration_loop.hpp>

namespace tesela::detail {

/// Whether iterate_by_tiles takes this job: rotations, reflectors and Cholesky's factor, without shifts and deflation.
bool goes_by_tiles(index_t n, index_t half_width, const EigIterationOptions& options);

/// A graph of tiles, of which the stop test is read every few steps.
template <class T>
Iterated<T> iterate_by_tiles(Graph& g, const IteratedMatrix<T>& a, const EigIterationOptions& options);

}  // namespace tesela::detail
