#pragma once

#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/least_squares/internal/kept_triangle.hpp>
#include <tesela/algorithms/least_squares/internal/row_system.hpp>

#include <optional>

namespace tesela::detail {

/// The q x p system B2 u = c2 of the rows of B from `first` on, 0 < q <= p, by corrected seminormal equations: with B2
/// B2^H = R^H R, w = R^-1 R^-H c2 and u = B2^H w. u has the least norm for any w. The residual c2 - B2 u is solved for
/// again. Costs q^2 p + q^3 / 3 operations; QR costs twice as many. A correction helps if eps cond(B2)^2 < 1 (Bjorck,
/// "Stability analysis of the method of seminormal equations", 1987).
template <class T>
class SeminormalRows {
 public:
  /// Returns whether the tiles of B are supported: one tile row, and at most as many rows from `first` on as columns.
  static bool takes(const TileMatrix<T>& B, index_t first) {
    return B.mt() == 1 && first < B.m() && B.m() - first <= B.n();
  }

  /// Inserts the products and the factorization.
  SeminormalRows(Graph& g, const TileMatrix<T>& B, index_t first);

  /// Solves as RowSystem::solve, always with BU and multipliers. Returns nothing if B2 is not certainly well
  /// conditioned or if corrections do not reach rounding level.
  std::optional<LeastNorm<T>> solve(Graph& g, const HostMatrix<T>& C2, double rcond, double norm_b) const;

  /// One step of solve(): u and l with B2 u = c2 to some digits and u = B2^H l.
  struct Step {
    HostMatrix<T> U, L;
  };
  Step step(Graph& g, const HostMatrix<T>& C2) const;

 private:
  /// Factors B2 B2^H on GPUs, where its R stays.
  void factor_in_place(Graph& g, const TileMatrix<T>& B, index_t first);
  void solve_normal(Graph& g, HostMatrix<T>& X) const;
  std::vector<real_t<T>> norms(Graph& g) const;  ///< of the columns of R
  /// Return B^H [0; X] and B X.
  HostMatrix<T> transposed_product(Graph& g, const HostMatrix<T>& X) const;
  HostMatrix<T> product(Graph& g, const HostMatrix<T>& X) const;

  TileMatrix<T> b_;
  index_t first_, q_;
  TileMatrix<T> factored_;             // B2 B2^H, later R
  std::optional<TileMatrix<T>> gram_;  // with GPUs: B2 B2^H before the factorization
  std::optional<CholeskyFactorization<T>> factor_;
  std::optional<ResidentTriangle<T>> triangle_;  // with GPUs
};

}  // namespace tesela::detail
