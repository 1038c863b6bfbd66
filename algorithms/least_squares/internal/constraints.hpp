#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// The constraints C x = d as C_1^T = Q [R; 0], with C_1 the rows of C that do not depend on others: all of them where
/// R is clearly regular, else those that column pivoting of R chooses (reveal_rank).
template <class T>
class Constraints {
 public:
  /// C, p x n, has rows of one size; `equilibrated` has columns of one size too, and decides which rows depend on
  /// others where C is not clearly regular. Waits for the graph.
  Constraints(Graph& g, const HostMatrix<T>& C, const HostMatrix<T>& equilibrated, double rcond);

  index_t rank() const { return static_cast<index_t>(kept_.size()); }
  double condition() const { return condition_; }
  double cut() const { return cut_; }  ///< what of rows of norm 1 was taken for zero
  bool is_dropped(index_t row) const { return dropped_[static_cast<std::size_t>(row)]; }
  std::vector<index_t> dropped() const;

  /// R^-T d of the rows that were kept.
  HostMatrix<T> solve(Graph& g, const HostMatrix<T>& D) const;
  void multiply_right(Graph& g, HostMatrix<T>& M) const;  ///< M = M Q
  void multiply(Graph& g, HostMatrix<T>& Y) const;        ///< Y = Q Y
  /// lambda with R lambda = M_1^T b, M_1 the first columns of M; p x r with zeros for rows that were dropped.
  HostMatrix<T> multipliers(Graph& g, const HostMatrix<T>& M, const HostMatrix<T>& b) const;

 private:
  void factor(Graph& g, const HostMatrix<T>& C);
  void choose_rows(Graph& g, const HostMatrix<T>& C, double rcond);

  std::vector<index_t> kept_;
  std::vector<bool> dropped_;
  double condition_ = 1, cut_ = 0;
  HostMatrix<T> transposed_;  // of the rows that were kept; holds Q's vectors
  std::optional<TileMatrix<T>> tiles_;
  std::optional<QrFactorization<T>> factors_;
  HostMatrix<T> r_;
};

}  // namespace tesela::detail
