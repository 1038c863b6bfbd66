#pragma once

#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/eigen/internal/deflation.hpp>
#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// How divide and conquer is cut into tasks, and where they run. The place is fixed: every merge has another shape, so
/// that the scheduler's models would not know it, and results would differ bit by bit between runs.
struct MergeShape {
  index_t n = 0;      ///< order of T
  index_t rows = 0;   ///< largest number of rows of vectors per task
  index_t batch = 0;  ///< roots, and columns of vectors, per task
  index_t depth = 0;  ///< batches of secular vectors that are kept at a time
  index_t gpus = 0;   ///< number of GPUs that run the tasks; 0: cores

  /// Returns where the task at this row or eigenvalue of T runs: GPUs have equal parts of T.
  Priority place(index_t at, int priority = 0) const {
    Priority where = gpus > 0 ? on_gpu_number(static_cast<std::size_t>(at * gpus / n)) : on_core;
    where.value = priority;
    return where;
  }
  /// Hints that the host will read a tile.
  template <class T>
  void bring_home(Graph& g, const Tile<T>& tile) const {
    if (gpus > 0) g.bring_home(tile);
  }
};

/// Returns the shape of merges in a matrix of order n. Cores: tasks of about 500 rows and half as many columns. GPUs:
/// all rows of a half at once. `rows` and `batch` replace the defaults unless they are 0.
MergeShape suitable_shape(const WorkerCounts& workers, index_t n, bool on_gpus, index_t rows = 0, index_t batch = 0);

/// The vectors of a merge in blocks of rows: columns that are gathered from both halves, and their products.
template <class T>
class MergedColumns {
 public:
  struct Block {
    RowBlock<T> result;
    index_t begin = 0;  // first row in T
    bool upper = false;
    TileMatrix<T> kept;                       // columns that are multiplied by the new vectors
    std::optional<TileMatrix<T>> stand = {};  // deflated columns
  };

  /// Inserts the tasks that gather the columns of a half, whose first row in T is `begin`. Call it for the upper half
  /// first.
  void gather(Graph& g, const MergeShape& shape, const Deflation<T>& deflation, const ColumnPlan<T>& columns,
              index_t begin, std::vector<RowBlock<T>> half);
  /// Inserts the tasks that append the products with `vectors`, a tile whose first `count` columns count.
  void multiply(Graph& g, const MergeShape& shape, const Deflation<T>& deflation, const Tile<T>& vectors, index_t count,
                const Products& products);
  /// Appends the deflated columns and returns all.
  std::vector<RowBlock<T>> finish();

  index_t rows() const;  ///< the largest number of rows of a block
  Block& top() { return blocks_.front(); }
  Block& bottom() { return blocks_.back(); }

 private:
  std::vector<Block> blocks_;  // from top to bottom
};

/// Returns the numbers of a tile of one column.
template <class T>
std::vector<T> numbers_of(const Tile<T>& tile) {
  const auto column = tile.read();
  return {column.data, column.data + column.rows};
}

/// Returns the tile of each matrix of one tile.
template <class T>
std::vector<Tile<T>> tiles_of(const std::vector<TileMatrix<T>>& matrices) {
  std::vector<Tile<T>> tiles;
  for (const TileMatrix<T>& matrix : matrices) tiles.push_back(matrix(0, 0));
  return tiles;
}

}  // namespace tesela::detail
