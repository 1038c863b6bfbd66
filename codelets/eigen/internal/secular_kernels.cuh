#pragma once

#include <tesela/codelets/eigen/internal/secular_root_inl.hpp>
#include <tesela/codelets/eigen/internal/tile_parameters.cuh>
#include <tesela/codelets/support/internal/each.cuh>

// Kernels of the secular equation, for eigenvalues and singular values. Internal to codelets/eigen.

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
template <class T, Equation equation>
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
      const T inverse = 1 / (difference<equation>(poles[i], pole) - distance), term = z[i] * z[i] * inverse;
      sum.value += term;
      sum.slope += term * inverse;
    }
    return {over_warp(sum.value), over_warp(sum.slope)};
  }
};

__device__ inline index_t warp_number() { return index_t{blockIdx.x} * warps + threadIdx.x / 32; }

/// Computes one root per warp.
template <class T, Equation equation>
__global__ void roots_kernel(WarpPoles<T, equation> poles, T rho, index_t first, Block<T> roots) {
  const index_t j = warp_number();
  if (j >= roots.rows) return;
  poles.lane = threadIdx.x % 32;
  const Root<T> root = RootSearch<T, WarpPoles<T, equation>, equation>(poles.k, rho, poles)(first + j);
  if (poles.lane != 0) return;
  entry(roots, j, 0) = root.pole;
  entry(roots, j, 1) = root.distance;
  entry(roots, j, 2) = static_cast<T>(root.iterations);
}

/// Computes one weight per warp: the products of fractions of secular.cpp, first each lane's, in the end all lanes'.
template <class T, Equation equation>
__global__ void weights_kernel(index_t k, const T* d, const T* z, const T* pole, const T* distance, index_t first,
                               Block<T> weights) {
  const index_t w = warp_number(), i = first + w;
  if (w >= weights.rows) return;
  const T at = d[i];
  T product = 1;
#pragma unroll 4
  for (index_t j = threadIdx.x % 32; j < k; j += 32) {
    const T over = difference<equation>(pole[j], at) + distance[j];
    const index_t next = j < i ? j : j + 1;
    product *= next < k ? over / difference<equation>(d[next], at) : over;
  }
  for (int offset = 16; offset > 0; offset /= 2) product *= __shfl_xor_sync(all_lanes, product, offset);
  if (threadIdx.x % 32 == 0) entry(weights, w, 0) = copysign(sqrt(product), z[i]);
}

/// Input of both kinds of vectors: row r of vector j is weights(i) / (d(i) - root j) with i = order(r), not yet
/// normalized. A block handles a few columns at a time and reads a row's numbers once for them.
template <class T, Equation equation>
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
      for (int u = 0; u < together; ++u) f(r, u, weight / (difference<equation>(at, c.pole[u]) - c.distance[u]));
    }
  }
};

inline unsigned blocks_of(index_t count, index_t each) { return static_cast<unsigned>(ceil_div(count, each)); }

/// Launches the kernels of roots and weights.
template <class T, Equation equation>
void launch_roots(CUstream_st* stream, const Block<const T>& poles, T rho, index_t first, const Block<T>& roots) {
  roots_kernel<T, equation><<<blocks_of(roots.rows, warps), 32 * warps, 0, stream>>>(
      {poles.rows, 0, &poles(0, 0), &poles(0, 1)}, rho, first, roots);
}
template <class T, Equation equation>
void launch_weights(CUstream_st* stream, const Block<const T>& poles, index_t first, const Block<T>& weights,
                    const Block<T>& work, std::span<const In<T>> roots) {
  stack_columns<T>(stream, roots, 2, work);
  weights_kernel<T, equation><<<blocks_of(weights.rows, warps), 32 * warps, 0, stream>>>(
      poles.rows, &poles(0, 0), &poles(0, 1), &work(0, 0), &work(0, 1), first, weights);
}

}  // namespace
}  // namespace secular
}  // namespace tesela::kernels
