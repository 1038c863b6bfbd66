#pragma once

#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>

namespace tesela::detail {

/// A matrix that is one tile.
template <class T>
struct OneTile {
  TileMatrix<T> matrix;
  OneTile(Runtime& runtime, Shape shape, const char* name)
      : matrix(runtime, shape.rows, shape.cols, {std::max<index_t>(1, shape.rows), std::max<index_t>(1, shape.cols)},
               name) {}
  Tile<T> operator*() const { return matrix(0, 0); }
};

}  // namespace tesela::detail
