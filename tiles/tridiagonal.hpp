#pragma once

#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// Tridiagonal matrices by their diagonals, each as long as the matrix: row i of one is
///
///     dl(i) x(i-1) + d(i) x(i) + du(i) x(i+1).
///
/// dl of the first row and du of the last are read only where the system is periodic: they couple to the last and the
/// first unknown. The three are cut into tiles alike. One matrix is n x 1 (or 1 x n); a batch of k matrices of one size
/// is n x k with a matrix in each column, or k x n with one in each row.
template <class T>
struct Tridiagonal {
  TileMatrix<T> dl, d, du;
};

}  // namespace tesela
