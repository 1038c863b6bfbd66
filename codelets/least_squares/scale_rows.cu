#include <tesela/codelets/least_squares/row_scaling.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void multiply_rows(const T* d, Block<T> a) {
  for (index_t j = blockIdx.y; j < a.cols; j += gridDim.y)
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < a.rows; i += gridDim.x * index_t{threads})
      a.data[i + j * a.ld] = d[i] == T(0) ? T(0) : d[i] * a.data[i + j * a.ld];
}

}  // namespace

template <class T>
void ScaleRows<T>::cuda(CudaContext& context, const Args&, In<real_t<T>> d, InOut<T> a) {
  if (a.rows == 0 || a.cols == 0) return;
  const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(a.rows, threads), 1024)),
                  static_cast<unsigned>(std::min<index_t>(a.cols, 4096)));
  multiply_rows<T><<<grid, threads, 0, context.stream()>>>(d.data, a);
  context.check(static_cast<int>(cudaGetLastError()), "scale_rows");
}

template decltype(ScaleRows<float>::cuda) ScaleRows<float>::cuda;
template decltype(ScaleRows<double>::cuda) ScaleRows<double>::cuda;

}  // namespace tesela::kernels
