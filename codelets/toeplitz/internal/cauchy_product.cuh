#pragma once

#include <tesela/codelets/support/cufft.hpp>
#include <tesela/codelets/toeplitz/cauchy_product.hpp>

#include <algorithm>
#include <bit>

// Products with several Cauchy-like matrices at once on a GPU, included by the .cu files that need them.
namespace tesela::kernels {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int chunk = 1024;  // rows of a part that one block works on
constexpr int per_thread = chunk / threads;
constexpr int most = most_side_by_side;

/// Vectors of order n that are multiplied together, and their matrices. A lane is one part of one vector: lane 2 v +
/// part.
template <class T>
struct Vectors {
  index_t n, length, ld_tables;
  const T* tables;
  T *z, *y;  // transforms, `length` complex numbers per lane; results, n numbers per vector
  const T* c[most];
  const T* x[most];
  index_t ldc[most];
};

/// x, for the residuals, and the shifts.
template <class T>
struct Refinement {
  T *y, *r;  // n numbers per vector
  const T* x[most];
  double sigma[most];
};

/// One block's share: some rows of one lane.
template <class T>
struct Share {
  const T *g, *h, *d, *x, *inverse_sine, *cotangent, *z;
  T* y;
  index_t rows;  // of the part, from this share's first row on; the share has min(rows, chunk)
  index_t first, offset;

  __device__ Share(const Vectors<T>& v, int lane, index_t from) {
    const int part = lane % 2, vector = lane / 2;
    first = part * cauchy_rows(v.n, 0) + from;
    offset = from;
    rows = cauchy_rows(v.n, part) - from;
    g = v.c[vector] + first;
    h = g + v.ldc[vector];
    d = h + v.ldc[vector];
    x = v.x[vector] + first;
    inverse_sine = v.tables + 4 * v.ld_tables + first;
    cotangent = inverse_sine + v.ld_tables;
    z = v.z + 2 * (v.length * lane + from);
    y = v.y + v.n * vector + first;
  }
  __device__ int count() const { return static_cast<int>(rows < chunk ? (rows > 0 ? rows : 0) : chunk); }

  __device__ T product(int a) const {
    const T hs = h[a] * inverse_sine[a];
    return g[a] * z[2 * a] - hs * z[2 * a + 1] + (d[a] + g[a] * hs * cotangent[a]) * x[a];
  }
};

template <class T>
__global__ void product_begin(Vectors<T> v) {
  const index_t a = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (a >= v.length) return;
  const int lane = static_cast<int>(blockIdx.y);
  const Share<T> s(v, lane, 0);
  T* const z = v.z + 2 * (v.length * lane + a);
  z[0] = a < s.rows ? s.h[a] * s.inverse_sine[a] * s.x[a] : T(0);
  z[1] = a < s.rows ? s.g[a] * s.x[a] : T(0);
}

template <class T>
__global__ void product_middle(Vectors<T> v) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= v.length) return;
  const int lane = static_cast<int>(blockIdx.y);
  const T *const t = v.tables + 2 * (lane % 2) * v.ld_tables + 2 * k, *const h = t + v.ld_tables;
  T* const z = v.z + 2 * (v.length * lane + k);
  const T re = z[0], im = z[1];
  z[0] = t[0] * re - t[1] * im - (h[0] * re + h[1] * im);
  z[1] = t[0] * im + t[1] * re - (h[1] * re - h[0] * im);
}

template <class T>
__global__ void product_end(Vectors<T> v) {
  const Share<T> s(v, static_cast<int>(blockIdx.y), static_cast<index_t>(blockIdx.x) * chunk);
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads) s.y[a] = s.product(a);
}

/// Computes r = x - (C - sigma I) y, with the product C y from `v`, whose vectors are y's.
template <class T>
__global__ void product_residual(Vectors<T> v, Refinement<T> refinement) {
  const int lane = static_cast<int>(blockIdx.y), vector = lane / 2;
  const Share<T> s(v, lane, static_cast<index_t>(blockIdx.x) * chunk);
  const index_t at = v.n * vector + s.first;
  const T sigma = static_cast<T>(refinement.sigma[vector]);
  for (int a = static_cast<int>(threadIdx.x); a < s.count(); a += threads)
    refinement.r[at + a] = refinement.x[vector][s.first + a] - (s.product(a) - sigma * refinement.y[at + a]);
}

/// Computes a product: the transforms and the steps around them.
template <class T>
void transform(CudaContext& context, const Vectors<T>& v, int vectors, int room) {
  const auto blocks = static_cast<unsigned>((v.length + threads - 1) / threads);
  // Few different counts, because each has a plan; extra transforms next to the vectors in use are ignored.
  const auto lanes = 2 * std::min(room, static_cast<int>(std::bit_ceil(static_cast<unsigned>(vectors))));
  auto* const z = reinterpret_cast<std::complex<T>*>(v.z);
  fft::transform<T>(context, fft::Direction::forward, v.length, lanes, z, v.length);
  product_middle<<<dim3(blocks, static_cast<unsigned>(2 * vectors)), threads, 0, context.stream()>>>(v);
  fft::transform<T>(context, fft::Direction::backward, v.length, lanes, z, v.length);
}

template <class T>
dim3 by_element(const Vectors<T>& v, int vectors) {
  return {static_cast<unsigned>((v.length + threads - 1) / threads), static_cast<unsigned>(2 * vectors)};
}
template <class T>
dim3 by_share(const Vectors<T>& v, int vectors) {
  return {static_cast<unsigned>((cauchy_rows(v.n, 0) + chunk - 1) / chunk), static_cast<unsigned>(2 * vectors)};
}

/// Computes y = B x for the vectors of `v`, then r = x - (C - sigma I) y.
template <class T>
void residual(CudaContext& context, const Vectors<T>& v, Refinement<T>& refinement, const In<T>& c, int vectors,
              int room) {
  CUstream_st* const stream = context.stream();
  Vectors<T> from_y = v, to_y = v;
  to_y.y = refinement.y;
  for (int i = 0; i < vectors; ++i) {
    refinement.x[i] = v.x[i];
    from_y.c[i] = c.data;
    from_y.ldc[i] = c.ld;
    from_y.x[i] = refinement.y + v.n * i;
  }
  product_begin<<<by_element(v, vectors), threads, 0, stream>>>(v);
  transform(context, v, vectors, room);
  product_end<<<by_share(v, vectors), threads, 0, stream>>>(to_y);
  product_begin<<<by_element(v, vectors), threads, 0, stream>>>(from_y);
  transform(context, v, vectors, room);
  product_residual<<<by_share(v, vectors), threads, 0, stream>>>(from_y, refinement);
}

template <class T>
__device__ T over_warp(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

template <class T>
__device__ T sum_over_block(T value) {
  __shared__ T of_warp[warps];
  value = over_warp(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < warps; ++w) sum += of_warp[w];
  return sum;
}

inline index_t shares_of(index_t n) { return (cauchy_rows(n, 0) + chunk - 1) / chunk; }

}  // namespace
}  // namespace tesela::kernels
