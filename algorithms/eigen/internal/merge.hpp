#pragma once

#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// One half of a merge: its eigenvalues in the order of its columns, their ascending order, and the row of its vectors
/// next to the other half.
template <class T>
struct MergeHalf {
  std::vector<T> values;
  std::vector<index_t> order;
  std::vector<T> row;
};

/// The columns that a block of rows copies from its half, and their rotations (kernels::MergeColumns): first the
/// columns that are multiplied by the new vectors, then the deflated ones.
template <class T>
struct ColumnPlan {
  std::vector<index_t> sources;
  std::vector<index_t> pairs;  // of each rotation: the deflated column, and the column that remains
  std::vector<T> cosines_and_sines;
};

/// D + rho z z^T after deflation.
template <class T>
struct Deflation {
  T rho = 0;                // for z with ||z|| = 1
  std::vector<T> poles, z;  // ascending, k of each
  // order of the poles: columns with rows of the upper half only, of both halves, of the lower half only
  std::vector<index_t> order;
  index_t upper = 0, lower = 0;  // number of columns with rows of the upper half, and of the lower half
  std::vector<T> deflated;       // the deflated eigenvalues, in the order of their columns
  ColumnPlan<T> top, bottom;
  index_t k() const { return static_cast<index_t>(poles.size()); }
};

/// Deflates diag(T1, T2) + |e| v v^T with v = (0 … 0 1 sign(e) 0 … 0): D are the eigenvalues of both halves, z = V^T v.
/// Two cases (J. Cuppen, Numer. Math. 36, 1981; J. Dongarra, D. Sorensen, SIAM J. Sci. Stat. Comput. 8, 1987): a
/// component of z is so small that its pair is an eigenpair; or two values are so close that a rotation of their
/// vectors makes one an eigenvector. Each changes the matrix by less than 8 u ||T||, u the unit roundoff.
template <class T>
Deflation<T> deflate(const MergeHalf<T>& upper, const MergeHalf<T>& lower, T e);

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
  struct Half {
    RowBlock<T> block;             // rows of the result
    std::vector<Tile<T>> sources;  // rows of the half, possibly in several blocks
    index_t blocks = 0;            // number of blocks in `sources`
    index_t begin = 0;             // first row in T
    bool upper = false;
    // columns that are multiplied by the new vectors; deflated columns
    std::optional<TileMatrix<T>> kept = {}, stand = {};
  };
  void gather(EigenColumns<T>& half, bool upper);
  void finish_blocks();
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
  std::vector<Half> halves_;                    // blocks of rows, from top to bottom
  std::optional<TileMatrix<T>> poles_;          // poles and z
  std::vector<TileMatrix<T>> roots_, weights_;  // one tile per batch
};

}  // namespace tesela::detail
