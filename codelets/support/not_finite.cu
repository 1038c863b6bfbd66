#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/tile_kernels.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace tesela::kernels {
namespace {

/// Blocks process columns in turn.
template <class T>
__global__ void search(typename NotFinite<T>::Args args, index_t rows, index_t columns, const device_t<T>* a,
                       index_t ld, int* status) {
  for (index_t j = blockIdx.x; j < columns; j += gridDim.x) {
    index_t end = rows;
    if (args.upper) end = min(rows, args.first_column + j - args.first_row + 1);
    const index_t first = args.lower ? max(index_t{0}, args.first_column + j - args.first_row) : 0;
    bool strange = false;
    for (index_t i = first + threadIdx.x; i < end; i += blockDim.x) strange |= !is_finite(a[i + j * ld]);
    if (__syncthreads_or(strange) != 0 && threadIdx.x == 0) {
      const int column = static_cast<int>(j + 1);
      for (int seen = atomicCAS(status, 0, column); seen > column;) {
        const int now = atomicCAS(status, seen, column);
        seen = now == seen ? column : now;
      }
    }
  }
}

}  // namespace

template <class T>
void NotFinite<T>::cuda(CudaContext& context, const Args& args, In<T> a, InOut<int> status) {
  if (a.rows == 0 || a.cols == 0) return;
  search<T><<<static_cast<unsigned>(std::min<index_t>(a.cols, 512)), 256, 0, context.stream()>>>(
      args, a.rows, a.cols, device_pointer(a.data), a.ld, status.data);
  context.check(cudaGetLastError(), "not_finite");
}

TESELA_CUDA_FOR_NUMBERS(NotFinite)

}  // namespace tesela::kernels
