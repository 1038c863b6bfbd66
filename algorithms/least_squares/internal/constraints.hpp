#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// The constraints C x = d as C_1^T = Q [R; 0]. C_1 holds independent rows of C: all rows if R is clearly regular,
/// otherwise the rows that column pivoting of R chooses (reveal_rank).
template <class T>
class Constraints {
 public:
  /// Factors C, p x n, whose rows have one size. The columns of `equilibrated` have one size too; it decides which rows
  /// are dependent if C is not clearly regular. Waits for the graph.
  Constraints(Graph& g, const HostMatrix<T>& C, const HostMatrix<T>& equilibrated, double rcond);

  index_t rank() const { return static_cast<index_t>(kept_.size()); }
  double condition() const { return condition_; }
  double cut() const { return cut_; }  ///< largest part of a row of norm 1 that was treated as zero
  bool is_dropped(index_t row) const { return dropped_[static_cast<std::size_t>(row)]; }
  std::vector<index_t> dropped() const;

  /// Returns R^-T d of the kept rows.
  HostMatrix<T> solve(Graph& g, const HostMatrix<T>& D) const;
  void multiply_right(Graph& g, HostMatrix<T>& M) const;  ///< M = M Q
  void multiply(Graph& g, HostMatrix<T>& Y) const;        ///< Y = Q Y
  /// Returns lambda with R lambda = M_1^T b, M_1 the first columns of M: p x r, zero for dropped rows.
  HostMatrix<T> multipliers(Graph& g, const HostMatrix<T>& M, const HostMatrix<T>& b) const;

 private:
  void factor(Graph& g, const HostMatrix<T>& C);
  void choose_rows(Graph& g, const HostMatrix<T>& C, double rcond);

  std::vector<index_t> kept_;
  std::vector<bool> dropped_;
  double condition_ = 1, cut_ = 0;
  HostMatrix<T> transposed_;  // transpose of the kept rows; holds Q's vectors
  std::optional<TileMatrix<T>> tiles_;
  std::optional<QrFactorization<T>> factors_;
  HostMatrix<T> r_;
};

}  // namespace tesela::detail
