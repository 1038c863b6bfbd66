#pragma once

#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/least_squares/internal/kept_triangle.hpp>
#include <tesela/algorithms/least_squares/internal/row_system.hpp>

#include <optional>

namespace tesela::detail {

/// The q x p system B2 u = c2 of the rows of B from `first` on, 0 < q <= p, by corrected seminormal equations: with
/// B2 B2^T = R^T R, w = R^-1 R^-T c2 and u = B2^T w, which is of least norm whatever w is, and what u leaves of c2 is
/// solved for again. q^2 p + q^3 / 3 operations, where QR takes twice as many. A correction gains as long as
/// eps cond(B2)^2 is below 1 (Bjorck, "Stability analysis of the method of seminormal equations", 1987).
template <class T>
class SeminormalRows {
 public:
  /// Whether a B of these tiles can be taken: they stand side by side.
  static bool takes(const TileMatrix<T>& B, index_t first) {
    return B.mt() == 1 && first < B.m() && B.m() - first <= B.n();
  }

  /// Inserts the products and the factorization.
  SeminormalRows(Graph& g, const TileMatrix<T>& B, index_t first);

  /// As RowSystem::solve, with BU and multipliers whether asked for or not. Nothing where B2 is not well conditioned
  /// beyond doubt, or corrections did not reach what rounding leaves.
  std::optional<LeastNorm<T>> solve(Graph& g, const HostMatrix<T>& C2, double rcond, double norm_b) const;

  /// What solve() does once: u and l with B2 u = c2 to some digits and u = B2^T l.
  struct Step {
    HostMatrix<T> U, L;
  };
  Step step(Graph& g, const HostMatrix<T>& C2) const;

 private:
  void solve_normal(Graph& g, HostMatrix<T>& X) const;
  /// B^T [0; X], and B X.
  HostMatrix<T> transposed_product(Graph& g, const HostMatrix<T>& X) const;
  HostMatrix<T> product(Graph& g, const HostMatrix<T>& X) const;

  TileMatrix<T> b_;
  index_t first_, q_;
  TileMatrix<T> factored_;             // B2 B2^T, and then R
  std::optional<TileMatrix<T>> gram_;  // with GPUs; before that
  std::optional<CholeskyFactorization<T>> factor_;
  std::optional<KeptTriangle<T>> triangle_;  // with GPUs
};

}  // namespace tesela::detail
