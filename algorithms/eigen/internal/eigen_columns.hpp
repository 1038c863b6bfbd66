#pragma once

#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// A tile of its own; it goes when the tasks that use it have run and nobody holds it.
template <class T>
TileMatrix<T> one_tile(Runtime& runtime, index_t rows, index_t cols, const char* name) {
  rows = std::max<index_t>(rows, 1), cols = std::max<index_t>(cols, 1);
  return {runtime, rows, cols, {rows, cols}, name};
}

/// The same with these numbers, column by column.
template <class T>
TileMatrix<T> one_tile(Runtime& runtime, index_t rows, const std::vector<T>& numbers, const char* name) {
  const index_t cols = rows > 0 ? static_cast<index_t>(numbers.size()) / rows : 0;
  TileMatrix<T> matrix = one_tile<T>(runtime, rows, cols, name);
  if (!numbers.empty()) matrix.copy_from(numbers.data(), rows);
  return matrix;
}

/// Some rows of all columns of a node's vectors: tiles side by side.
template <class T>
struct RowBlock {
  index_t rows = 0;
  std::vector<TileMatrix<T>> tiles;  // of one tile each
  void append_to(std::vector<Tile<T>>& list) const {
    for (const TileMatrix<T>& tile : tiles) list.push_back(tile(0, 0));
  }
};

/// Eigenpairs of rows begin … begin + n - 1 of T: values as their columns stand, their ascending order, and vectors in
/// blocks of rows from top to bottom. Where only some vectors were wanted, columns are fewer than values: column(i) is
/// that of value i, or -1.
template <class T>
struct EigenColumns {
  index_t begin = 0, n = 0;
  std::vector<T> values;
  std::vector<index_t> order, column;
  std::vector<RowBlock<T>> blocks;
};

/// The positions of values from the least to the largest.
template <class T>
std::vector<index_t> ascending_order(const std::vector<T>& values);

/// Columns of X (n x wanted, any tiles): column j is, in the rows of one node, its column for value place[j].value, and
/// zero elsewhere.
struct ColumnPlace {
  std::size_t node;
  index_t value;
};
/// The first GPUs, as many as `gpus`, make equal parts of X; none: cores do.
template <class T>
void place_columns(Graph& g, const std::vector<EigenColumns<T>>& nodes, const std::vector<ColumnPlace>& places,
                   const TileMatrix<T>& x, index_t gpus = 0);

/// The range of all nodes' values together, in ascending order.
template <class T>
std::vector<ColumnPlace> ascending_places(const std::vector<EigenColumns<T>>& nodes, index_t begin, index_t end);

}  // namespace tesela::detail
