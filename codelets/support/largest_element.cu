#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/tile_kernels.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace tesela::kernels {
namespace {

/// The bits of nonnegative numbers, as integers, have the same order as the numbers; NaN is above all.
using Bits = unsigned long long;

template <class R>
__device__ Bits bits_of(R x) {
  return static_cast<Bits>(__double_as_longlong(fabs(static_cast<double>(x))));
}
template <class R>
__device__ Bits bits_of(DeviceComplex<R> x) {
  return max(bits_of(x.re), bits_of(x.im));
}

__global__ void begin_search(Bits* found) { *found = 0; }

/// Blocks process columns in turn.
template <class T, class Args>
__global__ void search(Args args, index_t rows, index_t columns, const T* a, index_t ld, Bits* found) {
  Bits largest = 0;
  for (index_t j = blockIdx.x; j < columns; j += gridDim.x)
    for (index_t i = threadIdx.x; i < rows; i += blockDim.x) {
      const index_t below = args.first_row + i - args.first_column - j;
      if (below == 0 && args.counted != Counted::all) continue;
      if ((below > 1 || below < -1) && args.counted == Counted::next_to_diagonal) continue;
      largest = max(largest, bits_of(a[i + j * ld]));
    }
  for (int far = 16; far > 0; far /= 2) {
    const Bits other = __shfl_xor_sync(0xffffffffu, largest, far);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0 && largest > 0) atomicMax(found, largest);
}

}  // namespace

template <class T>
void LargestElement<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found) {
  auto* const bits = reinterpret_cast<Bits*>(found.data);
  begin_search<<<1, 1, 0, context.stream()>>>(bits);
  if (a.rows > 0 && a.cols > 0)
    search<<<static_cast<unsigned>(std::min<index_t>(a.cols, 512)), 256, 0, context.stream()>>>(
        args, a.rows, a.cols, device_pointer(a.data), a.ld, bits);
  context.check(cudaGetLastError(), "largest_element");
}

TESELA_CUDA_FOR_NUMBERS(LargestElement)

}  // namespace tesela::kernels
