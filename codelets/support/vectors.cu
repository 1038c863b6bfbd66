#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/vectors.hpp>

namespace tesela::kernels {
namespace {

using internal::each_threads;

/// Computes one column per block, with four sums per thread, so that loads overlap.
template <class T>
__global__ void dot_kernel(index_t n, const T* x, index_t ld_x, const T* y, index_t ld_y, bool reverse, T* result) {
  x += blockIdx.x * ld_x;
  y += blockIdx.x * ld_y;
  T sums[4] = {};
  for (index_t first = threadIdx.x; first < n; first += 4 * each_threads)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const index_t i = first + u * each_threads;
      if (i < n) sums[u] += x[i] * y[reverse ? n - 1 - i : i];
    }
  const T sum = internal::block_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}

template <class T>
void dots(const CudaContext& context, const In<T>& x, const In<T>& y, bool reverse, const Out<T>& result) {
  dot_kernel<<<static_cast<unsigned>(x.cols), each_threads, 0, context.stream()>>>(x.rows, x.data, x.ld, y.data, y.ld,
                                                                                   reverse, result.data);
}

template <class T>
struct AddTo {
  index_t n;
  T alpha;
  const T* x;
  index_t ld_x;
  T* y;
  index_t ld_y;
  bool reverse;
  __device__ void operator()(index_t i, index_t j) const {
    y[i + j * ld_y] += alpha * x[(reverse ? n - 1 - i : i) + j * ld_x];
  }
};

/// Exchanges the two ends.
template <class T>
struct AddOwnReverse {
  index_t n;
  T alpha, b;
  T* x;
  index_t ld;
  __device__ void operator()(index_t i, index_t j) const {
    T *const first = x + i + j * ld, *const last = x + n - 1 - i + j * ld;
    const T one = *first, other = *last;
    *first = b * (alpha * other + one);
    *last = b * (alpha * one + other);
  }
};

}  // namespace

template <class T>
void Dot<T>::cuda(CudaContext& context, const Args& args, In<T> x, In<T> y, Out<T> result) {
  dots(context, x, y, args.reverse, result);
}

template <class T>
void Norm<T>::cuda(CudaContext& context, const Args&, In<T> x, Out<double> result) {
  internal::norms(context, x.rows, x.cols, x.data, x.ld, result.data);
}

template <class T>
void Axpy<T>::cuda(CudaContext& context, const Args& args, In<T> x, InOut<T> y) {
  internal::each(context, x.rows, x.cols, AddTo<T>{x.rows, args.alpha, x.data, x.ld, y.data, y.ld, args.reverse});
}

template <class T>
void AxpxbReverse<T>::cuda(CudaContext& context, const Args& args, InOut<T> x) {
  internal::each(context, (x.rows + 1) / 2, x.cols, AddOwnReverse<T>{x.rows, args.alpha, args.b, x.data, x.ld});
}

template <class T>
void Reorthogonalize<T>::cuda(CudaContext& context, const Args&, In<T> p, InOut<T> v, Scratch<T> work) {
  context.check(cublas::gemm(context.cublas(), Op::transpose, Op::none, p.cols, v.cols, p.rows, T(1), p.data, p.ld,
                             v.data, v.ld, T(0), work.data, work.ld),
                "cublas gemm");
  context.check(cublas::gemm(context.cublas(), Op::none, Op::none, p.rows, v.cols, p.cols, T(-1), p.data, p.ld,
                             work.data, work.ld, T(1), v.data, v.ld),
                "cublas gemm");
}

template decltype(Dot<float>::cuda) Dot<float>::cuda;
template decltype(Dot<double>::cuda) Dot<double>::cuda;
template decltype(Norm<float>::cuda) Norm<float>::cuda;
template decltype(Norm<double>::cuda) Norm<double>::cuda;
template decltype(Axpy<float>::cuda) Axpy<float>::cuda;
template decltype(Axpy<double>::cuda) Axpy<double>::cuda;
template decltype(AxpxbReverse<float>::cuda) AxpxbReverse<float>::cuda;
template decltype(AxpxbReverse<double>::cuda) AxpxbReverse<double>::cuda;
template decltype(Reorthogonalize<float>::cuda) Reorthogonalize<float>::cuda;
template decltype(Reorthogonalize<double>::cuda) Reorthogonalize<double>::cuda;

}  // namespace tesela::kernels
