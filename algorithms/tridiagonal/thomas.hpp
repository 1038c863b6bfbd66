#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

/// B <- X where A X = B, by elimination without pivoting, one row after the other on one core (Thomas): the baseline
/// that parallel methods are compared with, and safe where A is diagonally dominant or symmetric positive definite. A's
/// diagonals are n x 1, B is n x r; both may have any tiles (of several, whole columns are gathered first). A is not
/// changed, and its dl(0) and du(n - 1) are not read. Inserts into the graph and returns; Graph::wait() says i + 1 when
/// equation i has a zero pivot, or when something there is not finite (B is worthless then). Throws ArgumentError, with
/// nothing inserted, when shapes do not fit.
template <class T>
void thomas(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B);

/// The same by LAPACK's gtsv, which pivots. Throws ArgumentError also where n exceeds LAPACK's integers.
template <class T>
void gtsv(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B);

}  // namespace tesela
