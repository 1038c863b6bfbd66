#pragma once

#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// Returns a matrix of one tile; it is freed after the tasks that use it have run and all copies are gone.
template <class T>
TileMatrix<T> one_tile(Runtime& runtime, index_t rows, index_t cols, const char* name) {
  rows = std::max<index_t>(rows, 1), cols = std::max<index_t>(cols, 1);
  return {runtime, rows, cols, {rows, cols}, name};
}

/// Returns a matrix of one tile with these numbers, column by column.
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

/// Eigenpairs of rows begin … begin + n - 1 of T: values in the order of their columns, their ascending order, and
/// vectors in blocks of rows from top to bottom. If only some vectors were computed, there are fewer columns than
/// values: column[i] is the column of value i, or -1.
template <class T>
struct EigenColumns {
  index_t begin = 0, n = 0;
  std::vector<T> values;
  std::vector<index_t> order, column;
  std::vector<RowBlock<T>> blocks;
};

/// Sets the n - 1 off-diagonal entries e(i) of size at most eps / 8 to zero. Returns the rows of the blocks between
/// them. Neighbours that fit into a leaf together share a block; `blocks` becomes the number of blocks without sharing.
template <class T>
std::vector<IndexRange> independent_blocks(index_t n, std::vector<T>& e, index_t leaf, index_t& blocks);

/// Returns the indices of the values in ascending order.
template <class T>
std::vector<index_t> ascending_order(const std::vector<T>& values);

/// The origin of column j of X (n x wanted, any tiles): in the rows of `node` its column for value `value`; zero in
/// other rows.
struct ColumnPlace {
  std::size_t node;
  index_t value;
};
/// Inserts the copies into X. The first `gpus` GPUs process equal parts of X; 0: cores.
template <class T>
void place_columns(Graph& g, const std::vector<EigenColumns<T>>& nodes, const std::vector<ColumnPlace>& places,
                   const TileMatrix<T>& x, index_t gpus = 0);

/// Returns positions begin … end - 1 of all nodes' values together, in ascending order.
template <class T>
std::vector<ColumnPlace> ascending_places(const std::vector<EigenColumns<T>>& nodes, index_t begin, index_t end);

}  // namespace tesela::detail
