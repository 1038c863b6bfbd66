#pragma once

#include <tesela/algorithms/eigen/internal/merged_columns.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// Joins the eigenpairs of two neighbouring halves, in three steps so that several merges run concurrently.
template <class T>
class Merge {
 public:
  /// Reads values and rows of the halves, deflates, and inserts the tasks that compute the new values. `upper_row` is
  /// the last row of the upper half's vectors, `lower_row` the first row of the lower half's; e joins them.
  Merge(Graph& g, const MergeShape& shape, EigenColumns<T> upper, const Tile<T>& upper_row, EigenColumns<T> lower,
        const Tile<T>& lower_row, T e);

  /// Inserts the tasks that compute the vectors of roots begin … end - 1. Vectors of deflated values exist already.
  void make_vectors(index_t begin, index_t end);

  /// For halves that have only the first row of the upper and the last row of the lower half: inserts the tasks that
  /// compute these two rows of all vectors.
  void make_rows();

  /// Waits for the values: k() roots, ascending, then the deflated values.
  void read_values();

  index_t k() const { return deflation_.k(); }
  index_t deflated() const { return static_cast<index_t>(deflation_.deflated.size()); }
  index_t iterations() const { return iterations_; }  ///< largest number for a root; valid after read_values()
  EigenColumns<T>& result() { return result_; }

 private:
  void insert_roots();
  /// Returns how the products of the vectors are computed.
  Products products_of_vectors() const;
  Tile<T> work() { return g_.scratch<T>(shape_.n, 2); }
  Priority place_of_value(index_t first) const { return shape_.place(result_.begin + first); }

  Graph& g_;
  MergeShape shape_;
  EigenColumns<T> result_;
  Deflation<T> deflation_;
  index_t iterations_ = 0;
  MergedColumns<T> columns_;
  std::optional<TileMatrix<T>> poles_;          // poles and z
  std::vector<TileMatrix<T>> roots_, weights_;  // one tile per batch
};

}  // namespace tesela::detail
