#pragma once

#include <tesela/codelets/eigen/bulge_blocks.hpp>

namespace tesela::kernels {

/// Columns of C, in tiles, for a kernel that moves them through a bundle. Internal to codelets/eigen.
template <class T>
struct Strip {
  BulgeBlocks plan;
  index_t bundle;
  bool transpose;
  const T* factors;
  index_t ld;
  index_t columns, row, height;  // of C; the first tile's first row; a tile's rows
  int ring;                      // rows
  T* c[most_gpu_row_tiles];
  index_t ldc[most_gpu_row_tiles];
};

}  // namespace tesela::kernels
