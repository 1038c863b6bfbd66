#include <tesela/codelets/least_squares/row_scaling.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void multiply_rows(const real_t<T>* d, T* a, index_t rows, index_t columns, index_t ld) {
  for (index_t j = blockIdx.y; j < columns; j += gridDim.y)
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < rows; i += gridDim.x * index_t{threads})
      a[i + j * ld] = d[i] == real_t<T>(0) ? T(0) : d[i] * a[i + j * ld];
}

}  // namespace

template <class T>
void ScaleRows<T>::cuda(CudaContext& context, const Args&, In<real_t<T>> d, InOut<T> a) {
  if (a.rows == 0 || a.cols == 0) return;
  const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(a.rows, threads), 1024)),
                  static_cast<unsigned>(std::min<index_t>(a.cols, 4096)));
  multiply_rows<<<grid, threads, 0, context.stream()>>>(d.data, device_pointer(a.data), a.rows, a.cols, a.ld);
  context.check(static_cast<int>(cudaGetLastError()), "scale_rows");
}

TESELA_CUDA_FOR_NUMBERS(ScaleRows)

}  // namespace tesela::kernels
