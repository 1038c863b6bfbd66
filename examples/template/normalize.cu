#include "normalize.hpp"

namespace normalize {
namespace {

constexpr int threads = 128;  // of the block that works on one column

/// Adds the squares of column blockIdx.x to its sum.
__global__ void add_squares(const double* a, index_t rows, index_t lda, double* sums, index_t lds) {
  __shared__ double partial[threads];
  const double* const column = a + blockIdx.x * lda;
  double sum = 0;
  for (index_t i = threadIdx.x; i < rows; i += threads) sum += column[i] * column[i];
  partial[threadIdx.x] = sum;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x * lds] += partial[0];
}

__global__ void divide_by_roots(const double* sums, index_t lds, double* a, index_t rows, index_t lda) {
  const double length = sqrt(sums[blockIdx.x * lds]);
  for (index_t i = threadIdx.x; i < rows && length > 0; i += threads) a[blockIdx.x * lda + i] /= length;
}

}  // namespace

// A variant enqueues its work on the worker's stream and returns. Tiles have at least one row and one column.

void AddSquares::cuda(CudaContext& context, const Args&, In<double> a, Commute<double> sums) {
  add_squares<<<static_cast<unsigned>(a.cols), threads, 0, context.stream()>>>(a.data, a.rows, a.ld, sums.data,
                                                                               sums.ld);
}

void DivideByRoots::cuda(CudaContext& context, const Args&, In<double> sums, InOut<double> a) {
  divide_by_roots<<<static_cast<unsigned>(a.cols), threads, 0, context.stream()>>>(sums.data, sums.ld, a.data, a.rows,
                                                                                   a.ld);
}

void Clear::cuda(CudaContext& context, const Args&, Out<double> row) {
  context.check(cudaMemset2DAsync(row.data, static_cast<std::size_t>(row.ld) * sizeof(double), 0, sizeof(double),
                                  static_cast<std::size_t>(row.cols), context.stream()),
                "cudaMemset2DAsync");
}

}  // namespace normalize
