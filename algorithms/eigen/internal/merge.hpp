#pragma once

#include <tesela/algorithms/eigen/internal/deflation.hpp>
#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// How divide and conquer is cut into tasks, and where they run. The scheduler has no choice: no two merges are of one
/// shape, so its models know none, and results would have other bits in every run.
struct MergeShape {
  index_t n = 0;      ///< order of T
  index_t rows = 0;   ///< of vectors in one task, at most, but where a half has fewer to give
  index_t batch = 0;  ///< roots, and columns of vectors, of one task
  index_t depth = 0;  ///< batches of the secular equation's vectors that are kept at a time
  index_t gpus = 0;   ///< that run them; 0: cores do

  /// Of a task at this row or eigenvalue of T: GPUs have equal parts of them.
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

/// Two neighbouring halves' eigenpairs become those of both. Three steps, so that several merges run side by side.
template <class T>
class Merge {
 public:
  /// Reads what the halves' tasks left of values and rows, deflates, and inserts the tasks that find the new values.
  /// `upper_row`: the last row of the upper half's vectors, `lower_row`: the first of the lower's; e joins them.
  Merge(Graph& g, const MergeShape& shape, EigenColumns<T> upper, const Tile<T>& upper_row, EigenColumns<T> lower,
        const Tile<T>& lower_row, T e);

  /// Inserts the tasks that make the vectors of roots begin … end - 1. Those of the deflated values stand already.
  void make_vectors(index_t begin, index_t end);

  /// For halves of which only the upper one's first and the lower one's last row are there: inserts the tasks that make
  /// these two rows of all vectors.
  void make_rows();

  /// Waits for the values: of k() roots, ascending, then the deflated ones.
  void read_values();

  index_t k() const { return deflation_.k(); }
  index_t deflated() const { return static_cast<index_t>(deflation_.deflated.size()); }
  index_t iterations() const { return iterations_; }  ///< for one root at most; known once values are
  EigenColumns<T>& result() { return result_; }

 private:
  struct Half {
    RowBlock<T> block;             // of the result
    std::vector<Tile<T>> sources;  // of several blocks of rows
    index_t blocks = 0;            // so many
    index_t begin = 0;             // row of T
    bool upper = false;
    std::optional<TileMatrix<T>> kept = {}, stand = {};  // columns that meet the new vectors; that are deflated
  };
  void gather(EigenColumns<T>& half, bool upper);
  void finish_blocks();
  void insert_roots();
  Tile<T> work() { return g_.scratch<T>(shape_.n, 2); }
  Priority place_of_value(index_t first) const { return shape_.place(result_.begin + first); }

  Graph& g_;
  MergeShape shape_;
  EigenColumns<T> result_;
  Deflation<T> deflation_;
  index_t iterations_ = 0;
  std::vector<Half> halves_;                    // blocks of rows, from top to bottom
  std::optional<TileMatrix<T>> poles_;          // and z
  std::vector<TileMatrix<T>> roots_, weights_;  // a batch each
};

}  // namespace tesela::detail
