#pragma once

#include <tesela/algorithms/qr/rq.hpp>

namespace tesela {

/// QR of A, m x n, and RQ of Q^T B, m x p (gqr), whose tasks stand in a graph:
///
///     Q^T A = [R; 0],   Q^T B V = S
///
/// For m <= p S = [0 S11] with S11 m x m, for m > p S = [S11; S21] with S21 p x p: S11 and S21 are upper triangular.
template <class T>
struct GeneralizedQr {
  QrFactorization<T> of_a;   ///< Q and R
  RqFactorization<T> of_qb;  ///< V^T and S

  /// C = op(V) C or C op(V), and V's last columns, p x k: as RqFactorization, transposed.
  void apply_v(Graph& g, Side side, Op op, const TileMatrix<T>& C) const {
    of_qb.apply(g, side, op == Op::none ? Op::transpose : Op::none, C);
  }
  void form_v(Graph& g, const TileMatrix<T>& V) const;
};

/// LAPACK ggqrf over tiles, for A, m x n, B, m x p, and any m, n and p. A is factored in place, B becomes Q^T B, of
/// which a copy, transposed, is factored: nothing waits between the two factorizations but for the tiles it needs. B's
/// tile rows are A's. options.tile cuts B^T. Q and V are formed only where asked for.
///
/// Inserts into the graph and returns. Throws ArgumentError where A and B do not conform, and as qr does. Source:
/// Anderson, Bai and Dongarra, "Generalized QR factorization and its applications" (1992).
template <class T>
[[nodiscard]] GeneralizedQr<T> gqr(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                   const RqOptions& options = {});

/// RQ of A, m x n, and QR of B Q^T, p x n (grq):
///
///     A Q^T = [0 R],   Z^T B Q^T = T
///
/// with R m x m for m <= n, otherwise as rq; T is upper triangular or trapezoidal.
template <class T>
struct GeneralizedRq {
  RqFactorization<T> of_a;   ///< Q and R
  QrFactorization<T> of_bq;  ///< Z and T
};

/// LAPACK ggrqf over tiles, for A, m x n, B, p x n, and any m, n and p. A is only read; B becomes B Q^T and is factored
/// in place. B's tile columns are as wide as the tile rows of A^T high (options.tile). Otherwise as gqr.
template <class T>
[[nodiscard]] GeneralizedRq<T> grq(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                   const RqOptions& options = {});

}  // namespace tesela
