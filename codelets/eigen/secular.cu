#include <tesela/codelets/eigen/internal/secular_root_inl.hpp>
#include <tesela/codelets/eigen/internal/tile_parameters.cuh>
#include <tesela/codelets/eigen/secular.hpp>
#include <tesela/codelets/support/internal/each.cuh>

namespace tesela::kernels {
namespace secular {
namespace {

constexpr unsigned all_lanes = 0xffffffff;
constexpr int warps = 4;

/// Returns the sum over a warp; every lane gets the same bits.
template <class T>
TESELA_BOTH T over_warp([[maybe_unused]] T value) {
#ifdef __CUDA_ARCH__
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(all_lanes, value, d);
#endif
  return value;
}

/// Poles for RootSearch; a warp shares their terms.
template <class T>
struct WarpPoles {
  index_t k, lane;
  const T *poles, *z;
  TESELA_INLINE T d(index_t i) const { return poles[i]; }
  TESELA_INLINE T square(index_t i) const { return z[i] * z[i]; }
  TESELA_INLINE T weight() const {
    T weight = 0;
    for (index_t i = lane; i < k; i += 32) weight += z[i] * z[i];
    return over_warp(weight);
  }
  TESELA_INLINE Sum<T> sum(index_t begin, index_t end, T pole, T distance) const {
    Sum<T> sum{0, 0};
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (index_t i = begin + lane; i < end; i += 32) {
      const T inverse = 1 / ((poles[i] - pole) - distance), term = z[i] * z[i] * inverse;
      sum.value += term;
      sum.slope += term * inverse;
    }
    return {over_warp(sum.value), over_warp(sum.slope)};
  }
};

__device__ inline index_t warp_number() { return index_t{blockIdx.x} * warps + threadIdx.x / 32; }

/// Computes one root per warp.
template <class T>
__global__ void roots_kernel(WarpPoles<T> poles, T rho, index_t first, Block<T> roots) {
  const index_t j = warp_number();
  if (j >= roots.rows) return;
  poles.lane = threadIdx.x % 32;
  const Root<T> root = RootSearch<T, WarpPoles<T>>(poles.k, rho, poles)(first + j);
  if (poles.lane != 0) return;
  entry(roots, j, 0) = root.pole;
  entry(roots, j, 1) = root.distance;
  entry(roots, j, 2) = static_cast<T>(root.iterations);
}

/// Computes one weight per warp: the products of fractions of secular.cpp, first each lane's, in the end all lanes'.
template <class T>
__global__ void weights_kernel(index_t k, const T* d, const T* z, const T* pole, const T* distance, index_t first,
                               Block<T> weights) {
  const index_t w = warp_number(), i = first + w;
  if (w >= weights.rows) return;
  const T at = d[i];
  T product = 1;
#pragma unroll 4
  for (index_t j = threadIdx.x % 32; j < k; j += 32) {
    const T over = (pole[j] - at) + distance[j];
    const index_t next = j < i ? j : j + 1;
    product *= next < k ? over / (d[next] - at) : over;
  }
  for (int offset = 16; offset > 0; offset /= 2) product *= __shfl_xor_sync(all_lanes, product, offset);
  if (threadIdx.x % 32 == 0) entry(weights, w, 0) = copysign(sqrt(product), z[i]);
}

/// Input of both kinds of vectors: row r of vector j is weights(i) / (d(i) - root j) with i = order(r), not yet
/// normalized. A block handles a few columns at a time and reads a row's numbers once for them.
template <class T>
struct Columns {
  static constexpr int together = 4;
  index_t k, count;
  const T *d, *weights;
  const index_t* order;
  const T *pole, *distance;

  struct Chosen {
    T pole[together], distance[together];
  };
  __device__ Chosen choose(index_t first) const {
    Chosen c;
    for (int u = 0; u < together; ++u) {
      const index_t j = first + u < count ? first + u : count - 1;
      c.pole[u] = pole[j], c.distance[u] = distance[j];
    }
    return c;
  }
  /// Calls f(r, u, component) for this thread's rows and all selected columns.
  template <class F>
  __device__ void each(const Chosen& c, const F& f) const {
    for (index_t r = threadIdx.x; r < k; r += internal::each_threads) {
      const index_t i = order[r];
      const T at = d[i], weight = weights[i];
#pragma unroll
      for (int u = 0; u < together; ++u) f(r, u, weight / ((at - c.pole[u]) - c.distance[u]));
    }
  }
};

template <class T>
__global__ void vectors_kernel(Columns<T> columns, Block<T> vectors) {
  const index_t first = index_t{blockIdx.x} * columns.together;
  const auto chosen = columns.choose(first);
  T scale[Columns<T>::together]{};
  columns.each(chosen, [&](index_t, int u, T x) { scale[u] += x * x; });
  for (T& s : scale) s = 1 / sqrt(internal::block_sum(s));
  columns.each(chosen, [&](index_t r, int u, T x) {
    if (first + u < columns.count) entry(vectors, r, first + u) = x * scale[u];
  });
}

template <class T>
__global__ void rows_kernel(Columns<T> columns, Block<const T> upper, index_t u_count, Block<const T> lower,
                            index_t l_count, Block<T> new_upper, Block<T> new_lower) {
  constexpr int together = Columns<T>::together;
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

unsigned blocks_of(index_t count, index_t each) { return static_cast<unsigned>(ceil_div(count, each)); }

}  // namespace
}  // namespace secular

using namespace secular;

template <class T>
void SecularRoots<T>::cuda(CudaContext& context, const Args& args, In<T> poles, Out<T> roots) {
  roots_kernel<T><<<blocks_of(roots.rows, warps), 32 * warps, 0, context.stream()>>>(
      {poles.rows, 0, &poles(0, 0), &poles(0, 1)}, args.rho, args.first, roots);
}

template <class T>
void SecularWeights<T>::cuda(CudaContext& context, const Args& args, In<T> poles, Out<T> weights, Scratch<T> work,
                             std::span<const In<T>> roots) {
  stack_columns<T>(context.stream(), roots, 2, work);
  weights_kernel<T><<<blocks_of(weights.rows, warps), 32 * warps, 0, context.stream()>>>(
      poles.rows, &poles(0, 0), &poles(0, 1), &work(0, 0), &work(0, 1), args.first, weights);
}

template <class T>
void SecularVectors<T>::cuda(CudaContext& context, const Args& args, In<T> poles, In<index_t> order, In<T> roots,
                             Out<T> vectors, Scratch<T> work, std::span<const In<T>> weights) {
  if (args.count == 0) return;
  stack_columns<T>(context.stream(), weights, 1, work);
  vectors_kernel<T><<<blocks_of(args.count, Columns<T>::together), internal::each_threads, 0, context.stream()>>>(
      {poles.rows, args.count, &poles(0, 0), work.data, order.data, &roots(args.first, 0), &roots(args.first, 1)},
      vectors);
}

template <class T>
void SecularRows<T>::cuda(CudaContext& context, const Args& args, In<T> poles, In<index_t> order, In<T> roots,
                          In<T> upper, In<T> lower, Out<T> new_upper, Out<T> new_lower, Scratch<T> work,
                          std::span<const In<T>> weights) {
  stack_columns<T>(context.stream(), weights, 1, work);
  rows_kernel<T><<<blocks_of(roots.rows, Columns<T>::together), internal::each_threads, 0, context.stream()>>>(
      {poles.rows, roots.rows, &poles(0, 0), work.data, order.data, &roots(0, 0), &roots(0, 1)}, upper, args.upper,
      lower, args.lower, new_upper, new_lower);
}

template decltype(SecularRoots<float>::cuda) SecularRoots<float>::cuda;
template decltype(SecularRoots<double>::cuda) SecularRoots<double>::cuda;
template decltype(SecularWeights<float>::cuda) SecularWeights<float>::cuda;
template decltype(SecularWeights<double>::cuda) SecularWeights<double>::cuda;
template decltype(SecularVectors<float>::cuda) SecularVectors<float>::cuda;
template decltype(SecularVectors<double>::cuda) SecularVectors<double>::cuda;
template decltype(SecularRows<float>::cuda) SecularRows<float>::cuda;
template decltype(SecularRows<double>::cuda) SecularRows<double>::cuda;

}  // namespace tesela::kernels
