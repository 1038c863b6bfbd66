#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Copies diagonals to a band: its element (i, j) is the element i rows below the diagonal in column j of A, which has
/// `rows` rows. Internal to codelets/eigen.
template <class T>
struct CopyDiagonals {
  const T* a;
  index_t lda;
  T* band;
  index_t ld, rows;
  __device__ void operator()(index_t i, index_t j) const {
    if (i + j < rows) band[i + j * ld] = a[i + j + j * lda];
  }
};

}  // namespace tesela::kernels
