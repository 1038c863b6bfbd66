#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_fill_body.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// Computes one element per thread, numbered down the columns: tiles may have one row or one column.
template <class F>
__global__ void for_each_element(index_t rows, index_t count, F f) {
  for (index_t e = blockIdx.x * index_t{threads} + threadIdx.x; e < count; e += gridDim.x * index_t{threads})
    f(e % rows, e / rows);
}

template <class F>
void launch(CudaContext& context, Shape shape, const F& f) {
  const index_t count = shape.rows * shape.cols;
  const auto blocks = static_cast<unsigned>(std::min<index_t>(ceil_div(count, threads), 16384));
  for_each_element<<<blocks, threads, 0, context.stream()>>>(shape.rows, count, f);
}

}  // namespace

template <class T>
void TridiagonalFill<T>::cuda(CudaContext& context, const Args& args, Out<T> dl, Out<T> d, Out<T> du) {
  launch(context, d.shape(), on_device(internal::FillElement<T>{args, dl, d, du}));
}

template <class T>
void TridiagonalProduct<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before,
                                 In<T> x, In<T> after, Out<T> b) {
  launch(context, x.shape(), on_device(internal::ProductElement<T>{args, dl, d, du, before, x, after, b}));
}

TESELA_CUDA_FOR_NUMBERS(TridiagonalFill, TridiagonalProduct)

}  // namespace tesela::kernels
