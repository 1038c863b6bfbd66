#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/qr/orthogonalize.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <span>

namespace tesela {

using kernels::Orthogonalization;

/// All of them, as `tesela qr --method` names them.
std::span<const Named<Orthogonalization>> orthogonalizations();

/// R, and what there was to tell.
template <class T>
struct Orthogonalized {
  TileMatrix<T> R;       ///< n x n, upper triangular, zeros below
  index_t broken = 0;    ///< 1 + the column that depends on those before it, or the minor that is not positive; 0: none
  bool shifted = false;  ///< Cholesky QR began with a shifted Gram matrix, and took three passes or more
};

/// A = Q R with Q in A's place, m x n, m >= n (LAPACK geqrf and orgqr). Gram-Schmidt takes A in one tile row: within a
/// tile column by column, between tiles by products; Cholesky QR in one tile column, reflectors as `qr` does. How
/// orthogonal Q is, for a condition k of A, in units of rounding: gram_schmidt about k^2, mgs k, the others 1;
/// cholesky_qr2 up to 1e8, and beyond that after passes with A^T A + s I (Fukaya, Kannan, Nakatsukasa, Yamamoto and
/// Yanagisawa 2020). A column of which nothing is left, or a factor that breaks down all the same, is named in
/// `broken`, and A is of no use then. A is scaled by a power of two first: a power of two in A goes into R, and
/// changes no bit of Q. Waits. Throws ArgumentError for other shapes and tilings.
///
/// Sources: Björck, "Numerics of Gram-Schmidt orthogonalization" (1994); Giraud, Langou, Rozložník and van den Eshof
/// (2005); Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm" (2015).
template <class T>
Orthogonalized<T> orthogonalize(Graph& g, const TileMatrix<T>& A, Orthogonalization method);

/// The tiles that A wants for it.
TileShape suitable_orthogonalization_tile(const Runtime& runtime, Orthogonalization method, index_t m, index_t n);

/// The unique Q R: rows of R whose diagonal element is negative change their sign, and so do these columns of Q. R is
/// the upper trapezoid of `r`; what stands below is not touched. Q may have any number of columns.
template <class T>
void make_diagonal_positive(HostMatrix<T>& r, HostMatrix<T>& q);

}  // namespace tesela
