#pragma once

#include <tesela/tiles/tile_matrix.hpp>

#include <span>
#include <vector>

namespace tesela::detail {

/// Options of bidiagonal_tree; size 0: suitable.
struct BidiagonalTreeOptions {
  index_t leaf = 0;       ///< largest number of rows that one task solves
  index_t rows = 0;       ///< largest number of rows of vectors per task
  index_t batch = 0;      ///< roots, and columns of vectors, per task
  index_t gpus_from = 0;  ///< smallest order of a merge on a GPU
  index_t first = 0;      ///< position of the first selected value in descending order; U.n() values are selected
  bool values = true;     ///< whether to compute S
};

/// Result of bidiagonal_tree.
struct BidiagonalTriples {
  std::vector<double> values;  ///< descending; all; empty if not requested or if an iteration did not converge
  int info = 0;                ///< 0, or the first nonzero status of a task
};

/// Computes B = U S V^T of the upper bidiagonal matrix B with diagonal d (n) and super-diagonal e (n - 1), finite
/// numbers, as a task graph: U and V (n x selected values) by divide and conquer (M. Gu, S. Eisenstat, SIAM J. Matrix
/// Anal. Appl. 16, 1995), whose large merges run on GPUs. A separate task computes S by dqds, since divide and conquer
/// has errors of a few eps ||B||. Needs a core.
BidiagonalTriples bidiagonal_tree(Runtime& runtime, std::span<const double> d, std::span<const double> e,
                                  const TileMatrix<double>& u, const TileMatrix<double>& v,
                                  const BidiagonalTreeOptions& options = {});

}  // namespace tesela::detail
