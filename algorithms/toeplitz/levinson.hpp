#pragma once

#include <tesela/algorithms/toeplitz/toeplitz.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/schur.hpp>

namespace tesela {

/// Inserts X = (T - sigma I)^-1 B by Levinson's recursion (without pivoting), for s shifts with k right-hand sides
/// each.
///
/// shifts  s x 1; a task is a tile of shifts. If it has sb rows, the tiles of X have sb k columns and the tiles of
///         report sb.
/// X       n x (s k), the columns of a shift next to each other; holds B, becomes the solutions.
/// report  levinson_report_rows x s (see LevinsonReport): the number of negative pivots of each shift, which is the
///         number of T's eigenvalues below it, and the order of a breakdown, for which its columns of X become zero.
/// Throws  ArgumentError, with nothing inserted, if shapes or tiles do not conform or n exceeds levinson_most.
/// Method  A vanishing leading minor is a breakdown, a small one loses digits: check the residual.
template <class T>
void levinson(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const TileMatrix<T>& X,
              const TileMatrix<double>& report);

/// Inserts the same recursion without right-hand sides (Durbin): column j of `inverse`, n x s, becomes the first column
/// of (T - shifts(j) I)^-1.
template <class T>
void durbin(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const TileMatrix<T>& inverse,
            const TileMatrix<double>& report);

/// Inserts the Schur recursion of T (without pivoting) as tiles: the first column of T^-1, 2 n^2 flops.
///
/// inverse  n x 1 in one tile; overwritten by the first column of T^-1 times 2^A.exponent(), or zeros at a breakdown.
/// report   levinson_report_rows x 1 (see LevinsonReport), of T times 2^-A.exponent().
/// tile     pairs of a tile, 128 times a power of two; 0 selects suitable_schur_tile.
/// Throws   ArgumentError, with nothing inserted, if shapes or the tile do not conform or n < 1.
/// Method   A tile computes its steps as a triangle, and each tile behind it applies them, so that tiles and steps form
///          a wavefront. The polynomials of the steps of all tiles are multiplied in a binary tree by Fourier
///          transforms, O(n log^2 n) flops. Breakdowns and small minors are as in levinson(); refine a solution.
///          Source: J. Schur 1917; T. Kailath, A theorem of I. Schur and its impact on modern signal processing, 1986.
template <class T>
void schur(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& inverse, const TileMatrix<double>& report,
           index_t tile = 0);

/// Inserts the same for the first column t of size 1, n numbers in the first column of a tile; a complex matrix is
/// Hermitian, t(0) real.
template <class T>
void schur(Graph& g, const Tile<T>& t, const TileMatrix<T>& inverse, const TileMatrix<double>& report,
           index_t tile = 0);

/// Returns the pairs of a tile for order n.
index_t suitable_schur_tile(index_t n, const WorkerCounts& workers);

}  // namespace tesela
