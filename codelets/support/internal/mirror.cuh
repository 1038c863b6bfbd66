#pragma once

#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/runtime/cuda_context.hpp>
#include <tesela/runtime/types.hpp>

#include <cuda_runtime_api.h>

// Copies between the two triangles of a symmetric or Hermitian matrix on a GPU. Internal to codelets/.

namespace tesela::kernels {

constexpr int mirror_side = 32, mirror_rows = 8;

/// Copies the conjugates of the part below the diagonal of the n x n matrix to the part above it, and drops imaginary
/// parts of the diagonal; `clear` sets the part below to zero. One 32 x 32 square per block.
template <class T, bool clear>
__global__ void mirror_kernel(index_t n, T* a, index_t ld) {
  if (blockIdx.y < blockIdx.x) return;
  __shared__ T square[mirror_side][mirror_side + 1];
  const index_t row = index_t{blockIdx.y} * mirror_side,  // of the square below
      column = index_t{blockIdx.x} * mirror_side;
  const auto x = static_cast<index_t>(threadIdx.x);
  for (index_t y = threadIdx.y; y < mirror_side; y += mirror_rows)
    if (row + x < n && column + y < n) square[y][x] = a[row + x + (column + y) * ld];
  __syncthreads();
  for (index_t y = threadIdx.y; y < mirror_side; y += mirror_rows) {
    if (column + x < n && row + y < n && column + x < row + y) a[column + x + (row + y) * ld] = conj(square[x][y]);
    if (is_complex<T> && row + x < n && row + x == column + y)
      a[row + x + (column + y) * ld] = without_imaginary(square[y][x]);
    if (clear && row + x < n && column + y < n && column + y < row + x) a[row + x + (column + y) * ld] = 0;
  }
}

/// Copies the conjugates of the part above the diagonal to the part below it.
template <class T>
__global__ void mirror_down_kernel(index_t n, T* a, index_t ld) {
  if (blockIdx.y < blockIdx.x) return;
  __shared__ T square[mirror_side][mirror_side + 1];
  const index_t row = index_t{blockIdx.x} * mirror_side,  // of the square above
      column = index_t{blockIdx.y} * mirror_side;
  const auto x = static_cast<index_t>(threadIdx.x);
  for (index_t y = threadIdx.y; y < mirror_side; y += mirror_rows)
    if (row + x < n && column + y < n) square[y][x] = a[row + x + (column + y) * ld];
  __syncthreads();
  for (index_t y = threadIdx.y; y < mirror_side; y += mirror_rows)
    if (column + x < n && row + y < n && column + x > row + y) a[column + x + (row + y) * ld] = conj(square[x][y]);
}

template <class T>
void mirror_down(const CudaContext& context, index_t n, T* a, index_t ld) {
  const auto squares = static_cast<unsigned>(ceil_div(n, mirror_side));
  if (n > 0)
    mirror_down_kernel<<<dim3(squares, squares), dim3(mirror_side, mirror_rows), 0, context.stream()>>>(
        n, device_pointer(a), ld);
  context.check(cudaGetLastError(), "mirror_down");
}

template <bool clear = false, class T>
void mirror(const CudaContext& context, index_t n, T* a, index_t ld) {
  const auto squares = static_cast<unsigned>(ceil_div(n, mirror_side));
  if (n > 0)
    mirror_kernel<device_t<T>, clear>
        <<<dim3(squares, squares), dim3(mirror_side, mirror_rows), 0, context.stream()>>>(n, device_pointer(a), ld);
  context.check(cudaGetLastError(), "mirror");
}

}  // namespace tesela::kernels
