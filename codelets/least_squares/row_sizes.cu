#include <tesela/codelets/least_squares/row_scaling.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 256, columns_of_one = 64;

/// The bits of nonnegative numbers, as integers, have the same order as the numbers; NaN is above all.
using Bits = unsigned long long;

/// Returns the bits of |x|, of a complex x the bits of the larger magnitude of its parts.
template <class T>
__device__ Bits bits_of(T x) {
  if constexpr (is_complex<T>)
    return max(bits_of(x.re), bits_of(x.im));
  else
    return static_cast<Bits>(__double_as_longlong(fabs(static_cast<double>(x))));
}

template <class T>
__global__ void largest_of_rows(const T* a, index_t rows, index_t columns, index_t ld, Bits* sizes) {
  for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < rows; i += gridDim.x * index_t{threads}) {
    Bits largest = 0;
    for (index_t first = blockIdx.y * index_t{columns_of_one}; first < columns;
         first += gridDim.y * index_t{columns_of_one})
      for (index_t j = first; j < min(columns, first + columns_of_one); ++j)
        largest = max(largest, bits_of(a[i + j * ld]));
    if (largest > 0) atomicMax(&sizes[i], largest);
  }
}

}  // namespace

template <class T>
void RowSizes<T>::cuda(CudaContext& context, const Args&, Out<double> sizes, std::span<const In<T>> a) {
  if (sizes.rows == 0) return;
  context.check(cudaMemsetAsync(sizes.data, 0, static_cast<std::size_t>(sizes.rows) * sizeof(double), context.stream()),
                "cudaMemset");
  for (const In<T>& tile : a) {
    if (tile.cols == 0) continue;
    const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(tile.rows, threads), 1024)),
                    static_cast<unsigned>(std::min<index_t>(ceil_div(tile.cols, columns_of_one), 1024)));
    largest_of_rows<<<grid, threads, 0, context.stream()>>>(device_pointer(tile.data), tile.rows, tile.cols, tile.ld,
                                                            reinterpret_cast<Bits*>(sizes.data));
  }
  context.check(cudaGetLastError(), "row_sizes");
}

TESELA_CUDA_FOR_NUMBERS(RowSizes)

}  // namespace tesela::kernels
