#pragma once

#include <tesela/algorithms/qr/rq.hpp>

namespace tesela {

/// The result of gqr: QR of A, m x n, and RQ of Q^H B, m x p, real or complex.
///
///     Q^H A = [R; 0],   Q^H B V = S
///
/// S = [0 S11] with S11 m x m if m <= p, S = [S11; S21] with S21 p x p if m > p. S11 and S21 are upper triangular.
template <class T>
struct GeneralizedQr {
  QrFactorization<T> of_a;   ///< Q and R
  RqFactorization<T> of_qb;  ///< V^H and S

  /// Inserts C = op(V) C or C = C op(V); form_v inserts the last k columns of V, p x k. See RqFactorization,
  /// whose Q is V^H.
  void apply_v(Graph& g, Side side, Op op, const TileMatrix<T>& C) const {
    of_qb.apply(g, side, op_for<T>(op) == Op::none ? adjoint<T> : Op::none, C);
  }
  void form_v(Graph& g, const TileMatrix<T>& V) const;
};

/// Inserts the generalized QR factorization (LAPACK ggqrf) of A, m x n, and B, m x p, for any m, n and p.
///
/// A             overwritten by its factorization.
/// B             overwritten by Q^H B; its tile rows must match A's.
/// options.tile  cuts B^H.
/// Returns       both factorizations. Q and V are formed only on request.
/// Throws        ArgumentError if A and B do not conform, and as qr.
/// Method        RQ factors a copy of (Q^H B)^H. The second factorization starts as soon as its first tiles are
///               ready. Source: Anderson, Bai and Dongarra, "Generalized QR factorization and its applications" (1992).
template <class T>
[[nodiscard]] GeneralizedQr<T> gqr(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                   const RqOptions& options = {});

/// The result of grq: RQ of A, m x n, and QR of B Q^H, p x n.
///
///     A Q^H = [0 R],   Z^H B Q^H = T
///
/// R is m x m if m <= n, otherwise as in rq. T is upper triangular or trapezoidal.
template <class T>
struct GeneralizedRq {
  RqFactorization<T> of_a;   ///< Q and R
  QrFactorization<T> of_bq;  ///< Z and T
};

/// Inserts the generalized RQ factorization (LAPACK ggrqf) of A, m x n, and B, p x n, for any m, n and p.
///
/// A        only read.
/// B        overwritten by the factorization of B Q^H. Its tile columns must match the tile rows of A^H (options.tile).
/// Returns  both factorizations.
/// Throws   as gqr.
template <class T>
[[nodiscard]] GeneralizedRq<T> grq(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                   const RqOptions& options = {});

}  // namespace tesela
