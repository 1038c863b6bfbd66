#pragma once

#include <tesela/tiles/tile_matrix.hpp>

#include <span>

namespace tesela::detail {

/// Sizes of the tasks of bidiagonal_tree; 0: suitable.
struct BidiagonalTreeOptions {
  index_t leaf = 0;   ///< largest number of rows that QR steps solve
  index_t rows = 0;   ///< largest number of rows of vectors per task
  index_t batch = 0;  ///< roots, and columns of vectors, per task
};

/// Computes U and V with B = U S V^T, S descending, of the upper bidiagonal matrix B with diagonal d (n) and
/// super-diagonal e (n - 1), finite numbers, by divide and conquer as a task graph on cores (M. Gu, S. Eisenstat, SIAM
/// J. Matrix Anal. Appl. 16, 1995). The first columns alone if U and V have fewer than n.
///
/// Returns  0, or 1 + a row of B near which a leaf did not converge.
int bidiagonal_tree(Runtime& runtime, std::span<const double> d, std::span<const double> e, const TileMatrix<double>& u,
                    const TileMatrix<double>& v, const BidiagonalTreeOptions& options = {});

}  // namespace tesela::detail
