#pragma once

#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Copies diagonals to a band: its element (i, j) is the element i rows below the diagonal in column j of A, which has
/// `rows` rows. Imaginary parts of the diagonal are dropped. Internal to codelets/eigen.
template <class T>
struct CopyDiagonals {
  const T* a;
  index_t lda;
  T* band;
  index_t ld, rows;
  __device__ void operator()(index_t i, index_t j) const {
    if (i + j >= rows) return;
    const T x = a[i + j + j * lda];
    band[i + j * ld] = i == 0 ? without_imaginary(x) : x;
  }
};

}  // namespace tesela::kernels
