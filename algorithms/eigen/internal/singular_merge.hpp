#pragma once

#include <tesela/algorithms/eigen/internal/merged_columns.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// Singular triples of n rows of B from `begin` on, which have n + extra columns: values in the order of their columns,
/// their ascending order, and blocks of rows of the matrices that codelets/eigen/bidiagonal describes.
struct SingularColumns {
  index_t begin = 0, n = 0, extra = 0;
  std::vector<double> values;
  std::vector<index_t> order;
  std::vector<RowBlock<double>> left, right;
};

/// Joins the triples of two halves and the row between them (M. Gu, S. Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995),
/// in steps so that several merges run concurrently.
class SingularMerge {
 public:
  /// Reads values and rows of the halves, deflates, and inserts the tasks that compute the new values. `upper_row` is
  /// the last row of the upper half's right vectors, `lower_row` the first row of the lower half's; alpha and beta are
  /// the elements of B in the row between the halves. Deflation changes B by at most a few eps times its largest
  /// element, about 1.
  SingularMerge(Graph& g, const MergeShape& shape, SingularColumns upper, const Tile<double>& upper_row,
                SingularColumns lower, const Tile<double>& lower_row, double alpha, double beta);

  /// Inserts the tasks that compute the vectors.
  void make_vectors();

  /// Waits for the values: the roots, ascending, then the deflated values.
  void read_values();

  SingularColumns& result() { return result_; }

 private:
  void insert_roots();
  Tile<double> work() { return g_.scratch<double>(shape_.n, 2); }
  Priority place_of_value(index_t first) const { return shape_.place(result_.begin + first); }

  Graph& g_;
  MergeShape shape_;
  SingularColumns result_;
  Deflation<double> deflation_;
  MergedColumns<double> left_, right_;
  std::optional<TileMatrix<double>> poles_;          // poles and z
  std::vector<TileMatrix<double>> roots_, weights_;  // one tile per batch
};

}  // namespace tesela::detail
