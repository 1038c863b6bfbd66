#pragma once

#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// The constraints C x = d as C_1^H = Q [R; 0]. C_1 holds independent rows of C: all rows if R is clearly regular,
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

  /// Returns R^-H d of the kept rows.
  HostMatrix<T> solve(Graph& g, const HostMatrix<T>& D) const;
  void multiply_right(Graph& g, HostMatrix<T>& M) const;  ///< M = M Q
  void multiply(Graph& g, HostMatrix<T>& Y) const;        ///< Y = Q Y
  /// Returns lambda with R lambda = M_1^H b, M_1 the first columns of M: p x r, zero for dropped rows.
  HostMatrix<T> multipliers(Graph& g, const HostMatrix<T>& M, const HostMatrix<T>& b) const;

 private:
  void factor(Graph& g, const HostMatrix<T>& C);
  void choose_rows(Graph& g, const HostMatrix<T>& C, double rcond);

  std::vector<index_t> kept_;
  std::vector<bool> dropped_;
  double condition_ = 1, cut_ = 0;
  HostMatrix<T> transposed_;  // adjoint of the kept rows; holds Q's vectors
  std::optional<TileMatrix<T>> tiles_;
  std::optional<QrFactorization<T>> factors_;
  HostMatrix<T> r_;
};

/// The problem min ||A x - b|| with C x = d in sizes near 1, columns in `order`. R | b is the reduced A | b:
///     R_ij = 2^units_j M_ij, C_ij = 2^(of_rows_i + units_j) C~_ij, d_ik = 2^(of_rows_i + of_x_k) d~_ik,
///     b_ik = 2^of_x_k b~_ik, x_jk = 2^(of_x_k - units_j) x~_jk.
template <class T>
struct ScaledProblem {
  HostMatrix<T> M, C, b, d;
  std::vector<int> units = {}, of_rows = {}, of_x = {};
  /// Column j is the original column order[j]; columns that are large in C come first.
  std::vector<index_t> order = {};
};
template <class T>
ScaledProblem<T> scaled_problem(const ExtendedQr<T>& e, const HostMatrix<T>& C, const HostMatrix<T>& D,
                                std::vector<int> units);

/// Returns units in which A's columns have size 1; units of zero columns suit C.
template <class T>
std::vector<int> unknown_units(const HostMatrix<T>& R, const HostMatrix<T>& C);

/// Returns C with rows and columns scaled to one size.
template <class T>
HostMatrix<T> equilibrated(const HostMatrix<T>& C);

/// Runs lse on A's factorization in its tiles: R in one tile row, m >= n, and B holds Q^H B = [c; .]. w is the smallest
/// change of c with which x = R^-1 (c + w) satisfies C x = d: K^H w = d - K^H c with K = R^-H C^H. Multipliers come
/// from K^H K as in SeminormalRows. Returns nothing, and changes nothing, if R (columns of unit norm) or K is not
/// certainly well conditioned, or if the result is less accurate than lse() requires.
template <class T>
std::optional<ConstrainedLeastSquares<T>> lse_on_device(Graph& g, const QrFactorization<T>& of_a,
                                                        const TileMatrix<T>& B, const HostMatrix<T>& C,
                                                        const HostMatrix<T>& D, double rcond);

}  // namespace tesela::detail
