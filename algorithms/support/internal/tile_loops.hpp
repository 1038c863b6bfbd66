#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <limits>

namespace tesela {

/// Throws ArgumentError if the size or the leading dimension of a tile exceeds the int of BLAS and LAPACK. A kernel in
/// a task could only end the process.
template <class T>
void require_blas_sizes(const char* routine, const char* name, const TileMatrix<T>& A) {
  const index_t largest = std::max({std::min(A.m(), A.tile_shape().mb), std::min(A.n(), A.tile_shape().nb), A.ld()});
  require(largest <= std::numeric_limits<int>::max(), routine, name, "a tile's size or leading dimension, ", largest,
          ", exceeds BLAS's integers");
}

/// Returns a priority that keeps a column (or row) of tiles on one GPU, if there are GPUs.
inline Priority on_column(index_t j, int value = 0) {
  Priority priority = on_gpu_number(static_cast<std::size_t>(j));
  priority.value = value;
  return priority;
}

/// Returns the priority of the update of column (or row) i in step k: the next panel first, then in order of i. Before
/// `begin`, the first column of i's block (ColumnBlock), a step comes first in all columns, so that its column is
/// loaded once; these updates give way to updates in the block before.
inline int update_priority(index_t i, index_t k, index_t steps, index_t begin = 0) {
  constexpr index_t most = 1000;
  if (k < begin) return static_cast<int>(std::max<index_t>(most - 1 - k, 0));
  return i == k + 1 ? highest_priority - 1 : static_cast<int>(most + std::min<index_t>(steps - i, most));
}

}  // namespace tesela
