#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <type_traits>
#include <vector>

namespace tesela {

using kernels::ColumnOrder;

/// Options of qr_batch.
struct QrBatchOptions {
  /// natural, norm, sqrd (the column with the smallest residual is next) or vblast (the stream with the least noise is
  /// last). mmse_sqrd and mmse_vblast are these orders for [H; sqrt(N0) I], which is factored then.
  ColumnOrder order = ColumnOrder::natural;
  double n0 = 0;
  /// Whether to use plane rotations instead of reflectors: row k of column k with the rows below it in turn. Element
  /// (i, k) stores the rotation that made it zero. Real rotations are stored as by qr --method givens (Stewart, 1976: s
  /// / 2 if |s| < |c|, else 2 / c, or 1 if c = 0). For complex rotations c is real and not negative, and this number is
  /// multiplied by the phase of s, where upper' = c upper + s lower, lower' = c lower - conj(s) upper. tau is zero.
  bool rotations = false;
};

/// A matrix of a batch, from 0, and its element that is NaN or infinite.
struct QrBatchFailure {
  index_t matrix = 0, row = 0, column = 0;  ///< from 0
};

/// Factors A_k P_k = Q_k R_k for K matrices m x n of one shape, up to 160 x 32, tall, square or wide (LAPACK geqrf,
/// matrix by matrix; F is float, double or std::complex of these).
///
/// A        m x (n K) in tiles m x (n kb), matrix k in columns k n …; becomes R in the upper triangle and Householder
///          vectors below.
/// tau      min(m, n) x K in tiles of kb columns; becomes the factors of the reflectors.
/// order    n x K; becomes the column of A_k that each column of A_k P_k is.
/// B        m x (r K) in tiles m x (r kb), or null; becomes Q^H B. For the mmse_ orders A and B have n more rows, which
///          are written here.
/// Returns  the matrices with a NaN or an infinity; the others are not affected.
/// Throws   ArgumentError for other shapes, tiles and orders, and a negative n0.
/// Waits    for the graph.
/// Method   Each matrix is scaled by a power of two. Wubben et al., 2001 and 2003; Wolniansky et al., 1998.
template <class F>
std::vector<QrBatchFailure> qr_batch(Graph& g, const TileMatrix<F>& A, const TileMatrix<F>& tau,
                                     const TileMatrix<int>& order,
                                     const std::type_identity_t<TileMatrix<F>>* B = nullptr,
                                     const QrBatchOptions& options = {});

}  // namespace tesela
