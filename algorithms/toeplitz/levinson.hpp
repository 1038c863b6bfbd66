#pragma once

#include <tesela/algorithms/toeplitz/toeplitz.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>

namespace tesela {

/// X <- (T - sigma I)^-1 B by Levinson's recursion (no pivoting), for s shifts with k right-hand sides each: shifts is
/// s x 1, X holds B and is n x (s k), a shift's columns beside each other, and report becomes levinson_report_rows x s
/// (see LevinsonReport): each shift's negative pivots, which count T's eigenvalues below it, and the order at which it
/// broke down, in which case its columns of X become zero. A task is a tile of shifts, with all that belongs to them:
/// where tiles of shifts have sb rows, those of X have sb k columns and those of report sb. Throws ArgumentError, with
/// nothing inserted, when shapes or tiles do not fit, or n exceeds levinson_most.
///
/// A vanishing leading minor is a breakdown and a small one loses digits: measure the residual.
template <class T>
void levinson(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const TileMatrix<T>& X,
              const TileMatrix<double>& report);

/// The same recursion without right-hand sides (Durbin): column j of `inverse`, n x s, becomes the first column of
/// (T - shifts(j) I)^-1.
template <class T>
void durbin(Graph& g, const Toeplitz<T>& A, const TileMatrix<T>& shifts, const TileMatrix<T>& inverse,
            const TileMatrix<double>& report);

}  // namespace tesela
