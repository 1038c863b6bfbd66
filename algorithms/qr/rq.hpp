#pragma once

#include <tesela/algorithms/qr/qr.hpp>

namespace tesela {

struct RqOptions {
  QrOptions qr = {};
  /// How A^T is cut to be factored; 0 x 0: as A is, transposed. suitable_qr_tile(workers, n, m) is fast.
  TileShape tile = {0, 0};
};

/// An RQ or LQ factorization whose tasks stand in a graph. It holds a copy of A, transposed, and A is only read.
template <class T>
class RqFactorization {
 public:
  /// Inserts C = op(Q) C (left; C is n x any, its rows cut as those of A^T) or C = C op(Q) (right; C is any x n, its
  /// columns cut so). Throws ArgumentError when shapes or tilings do not conform.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const;

  /// Inserts Q, k x n with k <= n, cut any way: of rq the last k rows of the orthogonal factor (LAPACK orgrq), of lq
  /// the first (orglq).
  void form_q(Graph& g, const TileMatrix<T>& Q) const;

  /// Inserts the triangle or trapezoid with its zeros, m x min(m, n), cut any way: of rq the last columns of A Q^T, of
  /// lq the first.
  void extract(Graph& g, const TileMatrix<T>& triangle) const;

  index_t m() const { return transposed_.n(); }
  index_t n() const { return transposed_.m(); }
  /// The factorization of A^T, or for rq of A^T with its columns in reverse order.
  const QrFactorization<T>& transposed() const { return transposed_; }

 private:
  RqFactorization(QrFactorization<T> transposed, bool reversed)
      : transposed_(std::move(transposed)), reversed_(reversed) {}
  template <class U>
  friend RqFactorization<U> rq(Graph&, const TileMatrix<U>&, const RqOptions&);
  template <class U>
  friend RqFactorization<U> lq(Graph&, const TileMatrix<U>&, const RqOptions&);

  QrFactorization<T> transposed_;
  bool reversed_;
};

/// LAPACK gerqf over tiles, for any m x n: A = [0 R] Q for m <= n, with R m x m upper triangular; A = [R1; R2] Q for m
/// > n, with R2, the last n rows, upper triangular. It is qr of A^T with its columns in reverse order, A^T P = F T:
/// then A = P T^T F^T, and Q = P F^T. So trees, kernels and speed are qr's.
///
/// Inserts into the graph and returns; throws as qr does.
template <class T>
[[nodiscard]] RqFactorization<T> rq(Graph& g, const TileMatrix<T>& A, const RqOptions& options = {});

/// LAPACK gelqf over tiles, for any m x n: A = [L 0] Q for m <= n, with L m x m lower triangular; A = [L1; L2] Q for m
/// > n, with L1, the first n rows, lower triangular. It is qr of A^T. Otherwise as rq.
template <class T>
[[nodiscard]] RqFactorization<T> lq(Graph& g, const TileMatrix<T>& A, const RqOptions& options = {});

}  // namespace tesela
