#include <tesela/codelets/eigen/internal/secular_kernels.cuh>
#include <tesela/codelets/eigen/tridiagonal/secular.hpp>

namespace tesela::kernels {
namespace secular {
namespace {

template <class T>
using EigenColumns = Columns<T, Equation::eigenvalue>;

template <class T>
__global__ void vectors_kernel(EigenColumns<T> columns, Block<T> vectors) {
  const index_t first = index_t{blockIdx.x} * columns.together;
  const auto chosen = columns.choose(first);
  T scale[EigenColumns<T>::together]{};
  columns.each(chosen, [&](index_t, int u, T x) { scale[u] += x * x; });
  for (T& s : scale) s = 1 / sqrt(internal::block_sum(s));
  columns.each(chosen, [&](index_t r, int u, T x) {
    if (first + u < columns.count) entry(vectors, r, first + u) = x * scale[u];
  });
}

template <class T>
__global__ void rows_kernel(EigenColumns<T> columns, Block<const T> upper, index_t u_count, Block<const T> lower,
                            index_t l_count, Block<T> new_upper, Block<T> new_lower) {
  constexpr int together = EigenColumns<T>::together;
  const index_t first = index_t{blockIdx.x} * together, begin_lower = columns.k - l_count;
  T squares[together]{}, uppers[together]{}, lowers[together]{};
  columns.each(columns.choose(first), [&](index_t r, int u, T x) {
    squares[u] += x * x;
    if (r < u_count) uppers[u] += x * entry(upper, 0, r);
    if (r >= begin_lower) lowers[u] += x * entry(lower, 0, r - begin_lower);
  });
  for (int u = 0; u < together; ++u) {
    const T scale = 1 / sqrt(internal::block_sum(squares[u])), above = internal::block_sum(uppers[u]),
            below = internal::block_sum(lowers[u]);
    if (threadIdx.x > 0 || first + u >= columns.count) continue;
    entry(new_upper, 0, first + u) = above * scale;
    entry(new_lower, 0, first + u) = below * scale;
  }
}

}  // namespace
}  // namespace secular

using namespace secular;

template <class T>
void SecularRoots<T>::cuda(CudaContext& context, const Args& args, In<T> poles, Out<T> roots) {
  launch_roots<T, Equation::eigenvalue>(context.stream(), poles, args.rho, args.first, roots);
}

template <class T>
void SecularWeights<T>::cuda(CudaContext& context, const Args& args, In<T> poles, Out<T> weights, Scratch<T> work,
                             std::span<const In<T>> roots) {
  launch_weights<T, Equation::eigenvalue>(context.stream(), poles, args.first, weights, work, roots);
}

template <class T>
void SecularVectors<T>::cuda(CudaContext& context, const Args& args, In<T> poles, In<index_t> order, In<T> roots,
                             Out<T> vectors, Scratch<T> work, std::span<const In<T>> weights) {
  if (args.count == 0) return;
  stack_columns<T>(context.stream(), weights, 1, work);
  vectors_kernel<T><<<blocks_of(args.count, EigenColumns<T>::together), internal::each_threads, 0, context.stream()>>>(
      {poles.rows, args.count, &poles(0, 0), work.data, order.data, &roots(args.first, 0), &roots(args.first, 1)},
      vectors);
}

template <class T>
void SecularRows<T>::cuda(CudaContext& context, const Args& args, In<T> poles, In<index_t> order, In<T> roots,
                          In<T> upper, In<T> lower, Out<T> new_upper, Out<T> new_lower, Scratch<T> work,
                          std::span<const In<T>> weights) {
  stack_columns<T>(context.stream(), weights, 1, work);
  rows_kernel<T><<<blocks_of(roots.rows, EigenColumns<T>::together), internal::each_threads, 0, context.stream()>>>(
      {poles.rows, roots.rows, &poles(0, 0), work.data, order.data, &roots(0, 0), &roots(0, 1)}, upper, args.upper,
      lower, args.lower, new_upper, new_lower);
}

TESELA_CUDA_FOR_REALS(SecularRoots, SecularWeights, SecularVectors, SecularRows)

}  // namespace tesela::kernels
