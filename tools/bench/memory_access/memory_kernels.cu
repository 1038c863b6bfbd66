#include "tools/bench/memory_access/memory_kernels.hpp"
#include <tesela/runtime/scalar.hpp>

#include <cuda_runtime.h>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr index_t max_grid_y = 65535;

__device__ index_t global_thread() { return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

template <class T>
__device__ void sum(const SumProblem<T>& p, index_t i, index_t j) {
  p.c[i * p.ldc + j] = p.a[i * p.lda + j] + p.b[i * p.ldb + j];
}

template <class T>
__global__ void element_kernel(SumProblem<T> p) {
  const index_t j = global_thread();
  if (j >= p.cols) return;
  // gridDim.y stops at 65535: a block takes the rows blockIdx.y, blockIdx.y + gridDim.y, ...
  for (index_t i = blockIdx.y; i < p.rows; i += gridDim.y) sum(p, i, j);
}

template <class T>
__global__ void row_kernel(SumProblem<T> p) {
  const index_t i = global_thread();
  if (i >= p.rows) return;
  for (index_t j = 0; j < p.cols; ++j) sum(p, i, j);
}

template <class T>
__global__ void column_kernel(SumProblem<T> p) {
  const index_t j = global_thread();
  if (j >= p.cols) return;
  for (index_t i = 0; i < p.rows; ++i) sum(p, i, j);
}

template <class T>
int launch(void (*kernel)(SumProblem<T>), CUstream_st* stream, const SumProblem<T>& p, int block, index_t threads,
           index_t grid_y) {
  if (block < 1 || block > 1024) return static_cast<int>(cudaErrorInvalidValue);
  if (p.rows == 0 || p.cols == 0) return 0;
  const dim3 grid(static_cast<unsigned>(ceil_div(threads, block)), static_cast<unsigned>(std::min(grid_y, max_grid_y)));
  kernel<<<grid, static_cast<unsigned>(block), 0, stream>>>(p);
  return static_cast<int>(cudaGetLastError());
}

}  // namespace

template <class T>
int sum_by_element(CUstream_st* stream, const SumProblem<T>& p, int block) {
  return launch(element_kernel<T>, stream, p, block, p.cols, p.rows);
}

template <class T>
int sum_by_row(CUstream_st* stream, const SumProblem<T>& p, int block) {
  return launch(row_kernel<T>, stream, p, block, p.rows, 1);
}

template <class T>
int sum_by_column(CUstream_st* stream, const SumProblem<T>& p, int block) {
  return launch(column_kernel<T>, stream, p, block, p.cols, 1);
}

TESELA_FUNCTIONS_FOR_REALS(sum_by_element, sum_by_row, sum_by_column)

}  // namespace tesela::kernels
