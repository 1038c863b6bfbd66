#pragma once

#include <tesela/algorithms/toeplitz/toeplitz.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>

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

}  // namespace tesela
