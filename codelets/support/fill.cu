#include <tesela/codelets/support/fill.hpp>
#include <tesela/codelets/support/internal/device_generator.cuh>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// Sets a(i, j); each block processes whole columns, so that neighbouring threads write neighbouring rows.
template <class T, class F>
__global__ void for_each_element(T* a, index_t rows, index_t cols, index_t ld, F f) {
  for (index_t j = blockIdx.y; j < cols; j += gridDim.y)
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < rows; i += gridDim.x * index_t{threads})
      a[i + j * ld] = f(a[i + j * ld], i, j);
}

template <class T, class F>
void launch(CudaContext& context, const Block<T>& of, F f) {
  const Block<device_t<T>> a{device_pointer(of.data), of.rows, of.cols, of.ld};
  const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(a.rows, threads), 1024)),
                  static_cast<unsigned>(std::min<index_t>(a.cols, 4096)));
  for_each_element<<<grid, threads, 0, context.stream()>>>(a.data, a.rows, a.cols, a.ld, f);
}

template <class T>
struct Generate {
  Generator<T> generator;
  index_t row, column;
  __device__ T operator()(T, index_t i, index_t j) const { return generator(row + i, column + j); }
};

template <class T>
struct Multiply {
  T alpha;
  __device__ T operator()(T a, index_t, index_t) const { return alpha * a; }
};

}  // namespace

template <class T>
void Fill<T>::cuda(CudaContext& context, const Args& args, Out<T> a) {
  if (a.rows > 0 && a.cols > 0) require_size(args.generator);
  launch<T>(context, a, Generate<device_t<T>>{device_generator(args.generator), args.row, args.column});
}

template <class T>
void Scal<T>::cuda(CudaContext& context, const Args& args, InOut<T> a) {
  launch<T>(context, a, Multiply<device_t<T>>{device_number(args.alpha)});
}

TESELA_CUDA_FOR_NUMBERS(Fill, Scal)

}  // namespace tesela::kernels
