#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

// Common operations of GPU kernels on a matrix: a function of each element, sums and norms of columns. Internal to
// codelets/.

namespace tesela::kernels::internal {

constexpr int each_threads = 256;

template <class F>
__global__ void each_kernel(index_t rows, index_t columns, F f) {
  for (index_t j = blockIdx.y; j < columns; j += gridDim.y)
    for (index_t i = threadIdx.x + index_t{each_threads} * blockIdx.x; i < rows; i += index_t{each_threads} * gridDim.x)
      f(i, j);
}

/// Returns the sum over a block of 256 threads, always in the same order; all threads get it.
template <class T>
__device__ inline T block_sum(T value) {
  __shared__ T partial[8];
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  __syncthreads();  // the previous use of `partial` is over
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < 8; ++w) sum += partial[w];
  return sum;
}

/// Computes one column per block, scaled by the largest magnitude to avoid overflow. NaN and infinities propagate.
template <class T>
__global__ void norm_kernel(index_t n, const T* data, index_t ld, double* to) {
  __shared__ double partial[8];
  data += blockIdx.x * ld;
  double largest = 0;
  for (index_t i = threadIdx.x; i < n; i += each_threads) {
    const double x = fabs(static_cast<double>(data[i]));
    largest = x > largest || isnan(x) ? x : largest;
  }
  for (int d = 16; d > 0; d /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, largest, d);
    largest = other > largest || isnan(other) ? other : largest;
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < 8; ++w) largest = partial[w] > largest || isnan(partial[w]) ? partial[w] : largest;
  double squares = 0;
  if (largest > 0 && largest <= 1.7e308)
    for (index_t i = threadIdx.x; i < n; i += each_threads) {
      const double x = static_cast<double>(data[i]) / largest;
      squares += x * x;
    }
  squares = block_sum(squares);
  if (threadIdx.x == 0) to[blockIdx.x] = largest > 0 && largest <= 1.7e308 ? largest * sqrt(squares) : largest;
}

/// Calls f(i, j) for each element of a rows x columns matrix.
template <class F>
void each(const CudaContext& context, index_t rows, index_t columns, const F& f) {
  if (rows <= 0 || columns <= 0) return;
  const dim3 blocks(static_cast<unsigned>(std::min<index_t>(ceil_div(rows, each_threads), 1024)),
                    static_cast<unsigned>(std::min<index_t>(columns, 65535)));
  each_kernel<<<blocks, each_threads, 0, context.stream()>>>(rows, columns, f);
}

/// Computes to[j] = the 2-norm of column j of `count`, each n long.
template <class T>
void norms(const CudaContext& context, index_t n, index_t count, const T* data, index_t ld, double* to) {
  if (count > 0) norm_kernel<<<static_cast<unsigned>(count), each_threads, 0, context.stream()>>>(n, data, ld, to);
}

}  // namespace tesela::kernels::internal
