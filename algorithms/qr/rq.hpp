#pragma once

#include <tesela/algorithms/qr/qr.hpp>

namespace tesela {

/// Options of rq, lq, gqr and grq.
struct RqOptions {
  QrOptions qr = {};  ///< options of the factorization of A^H
  /// Tile shape of A^H for the factorization; 0 x 0 selects A's, transposed. qr_tile(workers, n, m) is fast.
  TileShape tile = {0, 0};
};

/// An RQ or LQ factorization. It holds a copy of A^H; A is only read. T is real or complex, and A^H is
/// A^T for real numbers.
template <class T>
class RqFactorization {
 public:
  /// Inserts C = op(Q) C (left; C is n x any, its rows cut as the rows of A^H) or C = C op(Q) (right; C is any x n, its
  /// columns cut as the rows of A^H). Throws ArgumentError if shapes or tilings do not conform, and for the transpose
  /// of a complex Q.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const;

  /// Inserts Q, k x n with k <= n, in tiles of any shape: the last k rows of the unitary factor for rq (LAPACK
  /// orgrq), the first k rows for lq (orglq). Throws ArgumentError for another shape.
  void form_q(Graph& g, const TileMatrix<T>& Q) const;

  /// Inserts the triangle or trapezoid with its zeros, m x min(m, n), in tiles of any shape: the last columns of A Q^H
  /// for rq, the first for lq. Throws ArgumentError for another shape.
  void extract(Graph& g, const TileMatrix<T>& triangle) const;

  /// Return the rows and the columns of A.
  index_t m() const { return transposed_.n(); }
  index_t n() const { return transposed_.m(); }
  /// Returns the factorization of A^H (lq), or of A^H with its columns in reverse order (rq).
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

/// Inserts the RQ factorization (LAPACK gerqf) of any m x n matrix: A = [0 R] Q if m <= n, R m x m upper triangular; A
/// = [R1; R2] Q if m > n, the last n rows R2 upper triangular.
///
/// A        only read.
/// Returns  the factorization.
/// Throws   as qr.
/// Method   qr of A^H with its columns in reverse order: A^H P = F T, A = P T^H F^H, Q = P F^H. Trees, kernels and
///          speed are those of qr.
template <class T>
[[nodiscard]] RqFactorization<T> rq(Graph& g, const TileMatrix<T>& A, const RqOptions& options = {});

/// Inserts the LQ factorization (LAPACK gelqf) of any m x n matrix: A = [L 0] Q if m <= n, L m x m lower triangular; A
/// = [L1; L2] Q if m > n, the first n rows L1 lower triangular. It is qr of A^H; otherwise as rq.
template <class T>
[[nodiscard]] RqFactorization<T> lq(Graph& g, const TileMatrix<T>& A, const RqOptions& options = {});

}  // namespace tesela
