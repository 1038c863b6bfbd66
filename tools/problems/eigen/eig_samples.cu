#include "tools/problems/eigen/eig_samples.hpp"

#include <algorithm>

namespace tesela::bench {
namespace {

constexpr int threads = 256;

/// Neighbouring threads work on neighbouring rows, so that accesses coalesce.
template <class F>
__global__ void for_each_element(index_t rows, index_t cols, F f) {
  for (index_t j = blockIdx.y; j < cols; j += gridDim.y)
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < rows; i += gridDim.x * index_t{threads}) f(i, j);
}

template <class F>
void launch(CudaContext& context, index_t rows, index_t cols, F f) {
  if (rows == 0 || cols == 0) return;
  const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(rows, threads), 1024)),
                  static_cast<unsigned>(std::min<index_t>(cols, 4096)));
  for_each_element<<<grid, threads, 0, context.stream()>>>(rows, cols, f);
}

template <class T>
struct Element {
  Generator<T> generator;
  index_t column;
  Out<double> a;
  __device__ void operator()(index_t i, index_t j) const {
    const index_t k = column + j;
    a.data[i + j * a.ld] = static_cast<double>(i < k ? generator(k, i) : generator(i, k));
  }
};

template <class T>
struct Take {
  typename TakeColumns<T>::Args args;
  In<T> x;
  InOut<double> s;
  __device__ void operator()(index_t i, index_t c) const {
    s.data[i + args.to[c] * s.ld] = static_cast<double>(x.data[i + args.from[c] * x.ld]);
  }
};

}  // namespace

template <class T>
void FillSymmetric<T>::cuda(CudaContext& context, const Args& args, Out<double> a) {
  launch(context, a.rows, a.cols, Element<T>{args.generator, args.column, a});
}

template <class T>
void TakeColumns<T>::cuda(CudaContext& context, const Args& args, In<T> x, InOut<double> s) {
  launch(context, x.rows, args.count, Take<T>{args, x, s});
}

TESELA_CUDA_FOR_REALS(FillSymmetric, TakeColumns)

}  // namespace tesela::bench
