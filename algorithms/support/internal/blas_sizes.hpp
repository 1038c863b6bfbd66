#pragma once

#include <tesela/runtime/require.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace tesela {

/// Throws ArgumentError if the size or the leading dimension of a tile exceeds the int of BLAS and LAPACK. A kernel in
/// a task could only end the process.
template <class T>
void require_blas_sizes(const char* routine, const char* name, const TileMatrix<T>& A) {
  const index_t largest = std::max({std::min(A.m(), A.tile_shape().mb), std::min(A.n(), A.tile_shape().nb), A.ld()});
  require(largest <= std::numeric_limits<int>::max(), routine, name, "a tile's size or leading dimension, ", largest,
          ", exceeds BLAS's integers");
}

}  // namespace tesela
