#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <complex>
#include <type_traits>
#include <vector>

namespace tesela {

using kernels::ColumnOrder;

struct QrBatchOptions {
  /// natural, norm, sqrd (the column of which least is left comes next), vblast (the stream that noise hurts least
  /// comes last); mmse_sqrd and mmse_vblast are those of [H; sqrt(N0) I], which is what is factored then.
  ColumnOrder order = ColumnOrder::natural;
  double n0 = 0;
  /// By plane rotations, row k of column k with the rows below it in turn, instead of reflectors: for element (i, k)
  /// there stands the rotation that made it zero. Real ones are stored as by qr --method givens (Stewart, 1976: s / 2
  /// where it is smaller than c, else 2 / c, or 1 where c = 0); of complex ones c is real and not negative, and that
  /// number is multiplied by the phase of s, where upper' = c upper + s lower, lower' = c lower - conj(s) upper. tau is
  /// zero.
  bool rotations = false;
};

/// A matrix of a batch, counted from 0, with an element that is NaN or infinite.
struct QrBatchFailure {
  index_t matrix = 0, row = 0, column = 0;
};

/// A_k P_k = Q_k R_k for K matrices m x n of one shape, up to 160 x 32, tall, square or wide (LAPACK geqrf, matrix by
/// matrix; F is float, double or std::complex of these). A is m x (n K), matrix k in columns k n …, in tiles m x (n
/// kb): R takes its upper triangle, Householder's vectors stand below, their factors in tau (min(m, n) x K in tiles of
/// kb columns). order (n x K) says which column of A_k each column of A_k P_k is. B, where there is one, m x (r K) in
/// tiles m x (r kb), becomes Q^H B. For the mmse_ orders A and B have n rows more, which are written here. Each matrix
/// is scaled by a power of two of its own; one with a NaN or an infinity is named, and no other one notices. Waits.
/// Throws ArgumentError for other shapes, tiles and orders, and a negative n0. (Wubben et al., 2001 and 2003;
/// Wolniansky et al., 1998.)
template <class F>
std::vector<QrBatchFailure> qr_batch(Graph& g, const TileMatrix<F>& A, const TileMatrix<F>& tau,
                                     const TileMatrix<int>& order,
                                     const std::type_identity_t<TileMatrix<F>>* B = nullptr,
                                     const QrBatchOptions& options = {});

}  // namespace tesela
