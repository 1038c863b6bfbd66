#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/qr/orthogonalize.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <span>

namespace tesela {

using kernels::Orthogonalization;

/// Returns the methods with the names that `tesela qr --method` accepts.
std::span<const Named<Orthogonalization>> orthogonalizations();

/// R, and how the orthogonalization went.
template <class T>
struct Orthogonalized {
  TileMatrix<T> R;       ///< n x n, upper triangular, zeros below
  index_t broken = 0;    ///< 0, or 1 + the first dependent column, or the order of the minor that is not positive
  bool shifted = false;  ///< whether Cholesky QR began with a shifted Gram matrix, and needed three passes or more
};

/// Computes A = Q R with Q in A's place (LAPACK geqrf and orgqr).
///
/// A        m x n, m >= n; overwritten by Q. Gram-Schmidt needs one tile row, Cholesky QR one tile column; householder
///          accepts the tilings of `qr`.
/// Returns  R and `broken`. If `broken` is not 0 (a column is dependent or a Cholesky factor does not exist), A is
///          unusable.
/// Throws   ArgumentError for other shapes and tilings.
/// Waits    for the graph.
/// Method   ||Q^H Q - I|| in units of rounding, for a condition k of A: about k^2 for gram_schmidt, k for mgs, 1 for
///          the others. cholesky_qr2 adds passes with A^H A + s I if k is above about 1e8 (Fukaya, Kannan, Nakatsukasa,
///          Yamamoto and Yanagisawa 2020). Gram-Schmidt works column by column within a tile column and by products
///          between tile columns. A is scaled by a power of two first, which changes only R. Sources: Björck, "Numerics
///          of Gram-Schmidt orthogonalization" (1994); Giraud, Langou, Rozložník and van den Eshof (2005); Yamamoto,
///          Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm" (2015).
template <class T>
Orthogonalized<T> orthogonalize(Graph& g, const TileMatrix<T>& A, Orthogonalization method);

/// Inserts a pass of Cholesky QR: R = the Cholesky factor of A^H A and A = A R^-1. Waits for nothing.
///
/// A        m x n in one tile column; overwritten
/// R        n x n; the upper triangle is the factor
/// Returns  0 in `info`, or the minor of A^H A that is not positive: A is then unusable.
/// Throws   ArgumentError for other shapes and tilings, with nothing inserted.
/// Method   ||A^H A - I|| is about k^2 units of rounding for a condition k of the given A; after a second pass a few,
///          if k < 1e7. Products must neither over- nor underflow. Source: Yamamoto et al. (2015).
template <class T>
void cholesky_qr_pass(Graph& g, const TileMatrix<T>& A, const Tile<T>& R, const Tile<int>& info);

/// Returns the tile shape of A for `orthogonalize`.
TileShape orthogonalization_tile(const Runtime& runtime, Orthogonalization method, index_t m, index_t n);

/// Makes the diagonal of R real and nonnegative: turns the phases (signs) of rows of R and of the corresponding columns
/// of Q, so that Q R is unique. Only the upper trapezoid of `r` is accessed; Q may have any number of columns.
template <class T>
void make_diagonal_positive(HostMatrix<T>& r, HostMatrix<T>& q);

}  // namespace tesela
