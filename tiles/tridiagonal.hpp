#pragma once

#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// Tridiagonal matrices in three diagonals, each as long as the matrix; row i of a system is
///
///     dl(i) x(i-1) + d(i) x(i) + du(i) x(i+1).
///
/// Only periodic systems read dl of the first row and du of the last, which couple to the last and the first unknown.
/// All three have the same tiles. One matrix is n x 1 (or 1 x n); a batch of k matrices of one size is n x k with a
/// matrix in each column, or k x n with a matrix in each row.
template <class T>
struct Tridiagonal {
  TileMatrix<T> dl, d, du;
};

}  // namespace tesela
