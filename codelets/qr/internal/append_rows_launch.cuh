#pragma once

#include <tesela/runtime/types.hpp>

#include <cuda_pipeline.h>

#include <type_traits>

// TSQR on a GPU for at most 32 columns. Each warp streams blocks of 32 Rows rows, spread over all warps of the device,
// and folds them into its own triangle by Householder reflectors on [R; block]. The block is kept in registers, Rows
// whole rows per lane, while the next block is copied to shared memory. Warps never wait for each other: their
// triangles are the rows of the next, much smaller launch.

namespace tesela::kernels {

/// Rows per lane, warps per thread block, and columns that one piece of unrolled code serves.
template <int N_, int Rows_, int Warps_, int Step_>
struct AppendShape {
  static constexpr int N = N_, Rows = Rows_, Warps = Warps_, Step = Step_;
  static constexpr int block = 32 * Rows;
};

/// Result of the kernel of append_rows_gram.cuh; initially zeros.
struct GramState {
  unsigned finished;  // finished blocks
  int hopeless;       // sampled rows show that continuing is useless
  int certified;      // its R is accurate
  int unused;
};

template <class T, int N>
struct AppendProblem {
  const T* column[N];  // columns of A, each with m rows
  index_t m;
  int n;             // number of columns, <= N
  bool aligned;      // every column is aligned to 16 bytes
  const T* weights;  // of a weighted launch: the factors of the m rows
  const T* old;      // a triangle that becomes the last N rows of the stack, or null
  index_t ld_old;
  double* stack;     // the warps' triangles above each other, N rows each; null in the last launch
  index_t ld;        // of stack
  double* r_double;  // last launch: destination of R, in double or in T
  float* r_single;
  index_t ldr;
  double* sums;     // of a launch that forms A^T A: N x N sums of each block
  GramState* gram;  // null without such a launch
  int when;         // value of state->certified with which this launch runs
};

/// Shared memory of one warp.
template <class T, class S, bool weighted>
struct AppendWarp {
  alignas(16) T stage[S::N][S::block];             // the next block of rows
  alignas(16) double r[S::N][S::N];                // its triangle, row by row, scaled: column c equals 2^exponent(c) r
  alignas(16) double factors[2][S::N];             // of a reflector for each column; two in turn
  alignas(16) T weights[weighted ? S::block : 1];  // of the next block's rows
};

// Range of exponents in which squares and their sums are safe.
inline constexpr int append_range = 250;

__device__ inline unsigned modulus_high(double x) { return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu; }
__device__ inline int exponent_of(unsigned high) { return static_cast<int>(high >> 20) - 1023; }

/// Returns 1 / sqrt(a) or 1 / a for normal a: 20 bits from the special function unit, then one step of third order.
__device__ inline double approximate_rsqrt(double a) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a * y, y, 1.0);
  return fma(fma(0.375, e, 0.5), y * e, y);
}
__device__ inline double fast_reciprocal(double a) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a, y, 1.0);
  return fma(y, fma(e, e, e), y);
}

/// Starts the copy of a block of rows that ends at m or is not aligned; rows beyond m become zeros.
template <class T, class S, bool weighted>
__device__ __noinline__ void fetch_carefully(const AppendProblem<T, S::N>& p, AppendWarp<T, S, weighted>& warp,
                                             index_t row, int lane) {
#pragma unroll 1
  for (int c = 0; c < p.n; ++c) {
    const T* const from = p.column[c] + row;
#pragma unroll 1
    for (int i = lane; i < S::block; i += 32) {
      const bool there = row + i < p.m;
      __pipeline_memcpy_async(&warp.stage[c][i], there ? from + i : p.column[c], sizeof(T), there ? 0 : sizeof(T));
    }
  }
}

/// Starts the copy of any block of rows.
template <class T, class S, bool weighted>
__device__ inline void fetch(const AppendProblem<T, S::N>& p, AppendWarp<T, S, weighted>& warp, index_t row, int lane) {
  if constexpr (weighted) {
#pragma unroll
    for (int q = 0; q < S::Rows; ++q) {
      const int i = lane + 32 * q;
      const bool there = row + i < p.m;
      __pipeline_memcpy_async(&warp.weights[i], there ? p.weights + row + i : p.weights, sizeof(T),
                              there ? 0 : sizeof(T));
    }
  }
  constexpr int vector = 16 / static_cast<int>(sizeof(T)), vectors = S::block / vector;
  if (p.aligned && row + S::block <= p.m) {
#pragma unroll
    for (int c = 0; c < S::N; ++c) {
      if (c >= p.n) break;
      const T* const from = p.column[c] + row + lane * vector;
      T* const to = &warp.stage[c][lane * vector];
#pragma unroll
      for (int q = 0; q < (vectors + 31) / 32; ++q)
        if (vectors % 32 == 0 || lane + 32 * q < vectors)
          __pipeline_memcpy_async(to + 32 * q * vector, from + 32 * q * vector, 16);
    }
  } else {
    fetch_carefully<T, S, weighted>(p, warp, row, lane);
  }
  __pipeline_commit();
}

/// Loads the block from shared memory to registers; returns true if some number may be out of range.
template <class T, class S, bool weighted>
__device__ inline bool take(const AppendWarp<T, S, weighted>& warp, double (&x)[S::Rows][S::N], int lane) {
  bool doubtful = false;
  double weights[weighted ? S::Rows : 1];
  if constexpr (weighted) {
#pragma unroll
    for (int i = 0; i < S::Rows; ++i) weights[i] = static_cast<double>(warp.weights[lane + 32 * i]);
  }
#pragma unroll
  for (int c = 0; c < S::N; ++c) {
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < S::Rows; ++i) {
      x[i][c] = static_cast<double>(warp.stage[c][lane + 32 * i]);
      if constexpr (weighted) x[i][c] = weights[i] == 0 ? 0.0 : weights[i] * x[i][c];
      most = max(most, modulus_high(x[i][c]));
    }
    constexpr unsigned low = (1023u - append_range) << 20, high = (1023u + append_range) << 20;
    doubtful = doubtful || (most != 0 && most - low > high - low);
  }
  return std::is_same_v<T, double> && __any_sync(~0u, doubtful);  // the square of any float is a normal double
}

/// Scales a staged block as the triangle, after it has chosen new scales for columns that need one; the same rule as on
/// CPU cores. Lane c holds exponent c.
template <class T, class S, bool weighted>
__device__ __noinline__ int fit(AppendWarp<T, S, weighted>& warp, int exponent, int lane) {
  if constexpr (weighted) {  // applies the weights to the staged rows, once
    for (int i = lane; i < S::block; i += 32) {
      const T weight = warp.weights[i];
      for (int c = 0; c < S::N; ++c) warp.stage[c][i] = weight == T(0) ? T(0) : weight * warp.stage[c][i];
      warp.weights[i] = T(1);
    }
    __syncwarp();
  }
#pragma unroll 1
  for (int c = 0; c < S::N; ++c) {
    int e = __shfl_sync(~0u, exponent, c);
    unsigned most = 0;
    for (int i = lane; i < S::block; i += 32) most = max(most, modulus_high(static_cast<double>(warp.stage[c][i])));
    most = __reduce_max_sync(~0u, most);
    const unsigned above = __reduce_max_sync(~0u, lane < S::N ? modulus_high(warp.r[lane][c]) : 0u);
    int size = exponent_of(most) - e;
    if (most != 0 && most < 0x7ff00000u && abs(size) > append_range) {
      if (above != 0 && above < 0x7ff00000u) size = max(size, exponent_of(above));
      if (abs(size) > append_range) {
        e += size;
        if (lane == c) exponent = e;
        if (lane < S::N) warp.r[lane][c] = scalbn(warp.r[lane][c], -size);
      }
    }
    if (e == 0) continue;
    for (int i = lane; i < S::block; i += 32)
      warp.stage[c][i] = static_cast<T>(scalbn(static_cast<double>(warp.stage[c][i]), -e));
  }
  __syncwarp();
  return exponent;
}

/// Sums the lanes' value(0) … value(live - 1) over the warp, in as few shuffles as there are values: in each of five
/// steps a lane hands over the half that it will not finish. Lane l ends with the sum of value l >> shift.
template <int live>
struct Butterfly {
  static constexpr int levels = live > 16 ? 5 : live > 8 ? 4 : live > 4 ? 3 : live > 2 ? 2 : live > 1 ? 1 : 0;
  static constexpr int shift = 5 - levels;

  template <int count = live, int mask = 16, class F>
  __device__ static double sum(F value, int lane) {
    if constexpr (mask == 0) {
      return value(0);
    } else {
      constexpr int half = count > 16 ? 16 : count > 8 ? 8 : count > 4 ? 4 : count > 2 ? 2 : 1;
      const bool upper = (lane & mask) != 0;
      double v[half];
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const double low = value(i);
        if (i + half < count) {
          const double high = value(i + half);
          v[i] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, mask);
        } else {
          v[i] = low + __shfl_xor_sync(~0u, low, mask);
        }
      }
      return sum<half, mask / 2>([&](int i) { return v[i]; }, lane);
    }
  }
};

/// Applies one reflector H = I - v v^T / (norm (norm + |r|)), v = [r + sign(r) norm; x], norm = ||[r; x]||, for the
/// pivot row j of R and the block's first column x, to the live - 1 columns to its right, which move one place to the
/// left.
template <int live, class T, class S, bool weighted>
__device__ inline void reflect(AppendWarp<T, S, weighted>& warp, double (&x)[S::Rows][S::N], int j, int lane) {
  const int place = lane >> Butterfly<live>::shift;
  const bool owner = (lane & ((1 << Butterfly<live>::shift) - 1)) == 0 && place < live && j + place < S::N;
  const double above = owner ? warp.r[j][j + place] : 0.0;

  const auto partial = [&](int c) {
    double sum = x[0][0] * x[0][c];
#pragma unroll
    for (int i = 1; i < S::Rows; ++i) sum = fma(x[i][0], x[i][c], sum);
    return sum;
  };
  const double dot = Butterfly<live>::sum(partial, lane);

  const double s = __shfl_sync(~0u, dot, 0), pivot = __shfl_sync(~0u, above, 0);
  // False for NaN, which propagates. Sums of squares below 2^-900 would miss elements whose squares underflow: for
  // columns that depend on others, divided by all earlier reflectors, the reflector would not be orthogonal.
  const double a = fma(pivot, pivot, s);
  const bool nothing = s < 2.2250738585072014e-308 || a < 0x1p-900;
  const double y = approximate_rsqrt(a), rough = a * y;
  const double norm = fma(0.5 * y, fma(-rough, rough, a), rough);
  const double head = nothing ? 0.0 : pivot + copysign(norm, pivot);
  const double factor = nothing ? 0.0 : -fast_reciprocal(norm * (norm + fabs(pivot)));

  double(&factors)[S::N] = warp.factors[j & 1];
  if (owner) {
    const double t = fma(head, above, dot) * factor;
    factors[place] = t;
    warp.r[j][j + place] = place > 0 ? fma(head, t, above) : nothing ? pivot : -copysign(norm, pivot);
  }
  __syncwarp();
  double pivots[S::Rows];
#pragma unroll
  for (int i = 0; i < S::Rows; ++i) pivots[i] = x[i][0];
#pragma unroll
  for (int c = 1; c < live; ++c) {
    const double t = factors[c];
#pragma unroll
    for (int i = 0; i < S::Rows; ++i) x[i][c - 1] = fma(t, pivots[i], x[i][c]);
  }
}

template <int live, class T, class S, bool weighted>
__device__ inline void eliminate(AppendWarp<T, S, weighted>& warp, double (&x)[S::Rows][S::N], int n, int lane) {
  if constexpr (live > 0) {
#pragma unroll 1
    for (int j = S::N - live; j < S::N - live + S::Step; ++j) {
      if (j >= n) return;
      reflect<live, T, S, weighted>(warp, x, j, lane);
    }
    eliminate<live - S::Step, T, S, weighted>(warp, x, n, lane);
  }
}

/// Writes the warp's triangle, with zeros below, to its destination in the problem.
template <class T, class S, bool weighted>
__device__ inline void leave(const AppendProblem<T, S::N>& p, const AppendWarp<T, S, weighted>& warp, int exponent,
                             index_t number, index_t warps, int lane) {
#pragma unroll 1
  for (int c = 0; c < p.n; ++c) {
    const int e = __shfl_sync(~0u, exponent, c);
    const double value = lane <= c ? scalbn(warp.r[lane][c], e) : 0.0;
    if (p.stack != nullptr) {
      if (lane < S::N) p.stack[number * S::N + lane + c * p.ld] = value;
      if (p.old != nullptr && number == 0 && lane < S::N)
        p.stack[warps * S::N + lane + c * p.ld] = lane <= c ? static_cast<double>(p.old[lane + c * p.ld_old]) : 0.0;
    } else if (lane < p.n) {
      if (p.r_double != nullptr) p.r_double[lane + c * p.ldr] = value;
      if (p.r_single != nullptr) p.r_single[lane + c * p.ldr] = static_cast<float>(value);
    }
  }
}

template <class T, class S, bool weighted>
__global__ void __launch_bounds__(32 * S::Warps, 1)
    append_rows_kernel(const __grid_constant__ AppendProblem<T, S::N> p) {
  extern __shared__ __align__(16) unsigned char shared[];
  if (p.gram != nullptr && p.gram->certified != p.when) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, per_block = static_cast<int>(blockDim.x) / 32;
  // From one lane, so that the compiler knows that the value, and the number of turns of the loop below, is uniform in
  // the warp.
  const int place = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  auto& warp = reinterpret_cast<AppendWarp<T, S, weighted>*>(shared)[place];
  const index_t number = static_cast<index_t>(blockIdx.x) * per_block + place,
                warps = static_cast<index_t>(gridDim.x) * per_block, stride = warps * S::block;

  for (int j = 0; j < S::N; ++j)
    if (lane < S::N) warp.r[j][lane] = 0;
  for (int c = p.n; c < S::N; ++c)
    for (int i = lane; i < S::block; i += 32) warp.stage[c][i] = 0;
  int exponent = 0;
  bool scaled = false;

  // The first turn only loads. Thus each piece of this code exists once, to save space in the instruction cache.
  for (index_t row = number * S::block - stride; row < p.m; row += stride) {
    double x[S::Rows][S::N];
    if (row >= 0) {
      __pipeline_wait_prior(0);
      __syncwarp();
      bool fitted = false;
      while ((scaled && !fitted) || (take<T, S, weighted>(warp, x, lane) && !fitted)) {
        exponent = fit<T, S, weighted>(warp, exponent, lane);
        scaled = __any_sync(~0u, exponent != 0);
        fitted = true;
      }
      __syncwarp();
    }
    if (row + stride < p.m) fetch<T, S, weighted>(p, warp, row + stride, lane);
    if (row >= 0) eliminate<S::N, T, S, weighted>(warp, x, p.n, lane);
  }
  __syncwarp();
  leave<T, S, weighted>(p, warp, exponent, number, warps, lane);
}

}  // namespace tesela::kernels
