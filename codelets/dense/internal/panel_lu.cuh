#pragma once

#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <type_traits>

// Kernels of a panel of LU (getrf.cu): the tournament, the factorization of 32 columns, and rows of U.

namespace tesela::kernels {

inline constexpr int width = tournament_columns, players = tournament_rows;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// Returns a multiple of 32 that orders numbers by their size, to 15 bits (18 in single precision): 32 or more, and the
/// most for NaN. Nonzero numbers come after zero.
__device__ inline unsigned size_order(float size) {
  const unsigned bits = __float_as_uint(size) & 0x7fffffe0u;
  return (bits == 0 && size != 0 ? 32 : bits) + 32;
}
__device__ inline unsigned size_order(double size) {
  const unsigned bits = static_cast<unsigned>(__double2hiint(size)) & 0x7fffffe0u;
  return (bits == 0 && size != 0 ? 32 : bits) + 32;
}

/// Returns 1 / x with an error of about a unit in the last place; not finite or zero for x beyond the normal numbers.
__device__ inline double fast_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
#pragma unroll
  for (int step = 0; step < 2; ++step) r = fma(r, fma(-x, r, 1.0), r);
  return r;
}
__device__ inline float fast_reciprocal(float x) { return 1 / x; }

/// Rows of a game that a thread keeps in registers.
template <class T>
constexpr int rows_each = sizeof(T) <= 8 ? 2 : 1;

/// Plays one game over `w` columns, 512 rows per block. `rows` lists the `count` rows; null selects consecutive rows
/// from `first` on; a row of -1 does not play. Each block writes its winners in their order and pads them with -1. The
/// last game, of one block, also writes the winners' U into `square` (null in other games), and into `zero` the
/// position of its first pivot that is zero or not finite; `place`: position of the first pivot. A pivot may be smaller
/// than the largest candidate by 2^-15 of its size, which lets one instruction find it.
///
/// A thread's registers move by one column in each step, so that a short loop serves all steps: code that runs once is
/// as slow as its instructions arrive.
template <class T>
__global__ void __launch_bounds__(players / rows_each<T>)
    play_kernel(const T* a, index_t lda, int w, index_t count, const int* rows, index_t first, int* winners, T* square,
                index_t place, volatile double* zero) {
  constexpr int each = rows_each<T>, threads = players / each, warps = threads / 32;
  __shared__ __align__(16) T pivot_row[width];
  __shared__ T pivot_inverse;
  __shared__ unsigned keys[warps];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  int row[each];
  bool plays[each];
  T x[each][width];
#pragma unroll
  for (int r = 0; r < each; ++r) {
    const index_t player = blockIdx.x * index_t{players} + r * threads + thread;
    row[r] = player >= count ? -1 : rows != nullptr ? rows[player] : static_cast<int>(first + player);
    plays[r] = row[r] >= 0;
#pragma unroll
    for (int j = 0; j < width; ++j) x[r][j] = plays[r] && j < w ? a[row[r] + j * lda] : T(0);
  }
  winners += blockIdx.x * index_t{width};
  int k = 0;
  /// Makes steps k ... end - 1; x holds column k and the next `columns` - 1. Stops if no row plays on.
  const auto steps = [&](auto columns, int end) {
#pragma unroll 1
    for (; k < end; ++k) {
      unsigned own = 0;
      int mine = 0;
#pragma unroll
      for (int r = 0; r < each; ++r) {
        const unsigned order = plays[r] ? size_order(sum_of_parts(x[r][0])) : 0;
        if (order > own) own = order, mine = r;
      }
      const unsigned candidate = __reduce_max_sync(whole_warp, own == 0 ? 0 : own | static_cast<unsigned>(31 - lane));
      if (lane == 0) keys[warp] = candidate;
      __syncthreads();
      T inverse{};  // of the own candidate, while the keys arrive
      if constexpr (!is_complex<T>) inverse = fast_reciprocal(mine == 0 ? x[0][0] : x[each - 1][0]);
      const unsigned key = lane < warps ? keys[lane] : 0;
      const unsigned best =
          __reduce_max_sync(whole_warp, key == 0 ? 0 : (key & ~31u) | static_cast<unsigned>(31 - lane));
      if (best == 0) return;  // in all threads
      const int best_warp = 31 - static_cast<int>(best % 32);
      const int best_lane = 31 - static_cast<int>(__shfl_sync(whole_warp, key, best_warp) % 32);
      if (warp == best_warp && lane == best_lane) {
#pragma unroll
        for (int r = 0; r < each; ++r) {
          if (r != mine) continue;
#pragma unroll
          for (int j = 0; j < columns(); ++j) pivot_row[j] = x[r][j];
          pivot_inverse = inverse;
          winners[k] = row[r];
          plays[r] = false;
          if (square != nullptr && (sum_of_parts(x[r][0]) == 0 || !is_finite(x[r][0])) && !(*zero > 0))
            *zero = static_cast<double>(place + k);
        }
      }
      __syncthreads();
      if (square != nullptr && thread < min(columns(), width - k)) square[k + (k + thread) * width] = pivot_row[thread];
      const T pivot = pivot_row[0], reciprocal = pivot_inverse;
      const bool quick = !is_complex<T> && is_finite(reciprocal) && sum_of_parts(reciprocal) != 0;
      T multiple[each];
#pragma unroll
      for (int r = 0; r < each; ++r)
        multiple[r] = !plays[r] || sum_of_parts(pivot) == 0 ? T(0)
                      : quick                               ? x[r][0] * reciprocal
                                                            : quotient(x[r][0], pivot);
#pragma unroll
      for (int j = 1; j < columns(); ++j) {
        const T above = pivot_row[j];
#pragma unroll
        for (int r = 0; r < each; ++r) x[r][j - 1] = minus_product(x[r][j], multiple[r], above);
      }
    }
  };
  steps(std::integral_constant<int, width>{}, min(w, width / 2));
  if (k == width / 2) steps(std::integral_constant<int, width / 2>{}, w);
  if (thread < width - k) winners[k + thread] = -1;
}

/// Factors a w x w square (w <= 32) into L U without pivoting, one thread per element. `place` is the position of its
/// first pivot in the matrix, counted from 1.
template <class T>
__global__ void __launch_bounds__(width* width)
    square_lu_kernel(int w, T* a, index_t lda, index_t place, double* zero) {
  __shared__ T s[width][width + 1];
  if (*zero > 0) return;
  const int i = threadIdx.x, j = threadIdx.y;
  const bool inside = i < w && j < w;
  if (inside) s[j][i] = a[i + j * lda];
  for (int k = 0; k < w; ++k) {
    __syncthreads();
    const T pivot = s[k][k];
    if (sum_of_parts(pivot) == 0 || !is_finite(pivot)) {  // the same for all threads
      if (i == 0 && j == 0) *zero = static_cast<double>(place + k);
      return;
    }
    if (inside && j == k && i > k) s[k][i] = quotient(s[k][i], pivot);
    __syncthreads();
    if (inside && j > k && i > k) s[j][i] = minus_product(s[j][i], s[k][i], s[j][k]);
  }
  if (inside) a[i + j * lda] = s[j][i];
}

inline constexpr int rows_at_once = 128;

/// Solves A = A U^-1 for m rows, one thread per row, with the upper triangle U of a square. The first `factored` rows
/// (w or none) are those whose elimination gave U: they become L U.
template <class T>
__global__ void __launch_bounds__(rows_at_once)
    rows_lu_kernel(index_t m, int w, const T* square, index_t lds, int factored, T* a, index_t lda) {
  __shared__ T u[width][width];
  for (int e = threadIdx.x; e < width * width; e += rows_at_once) {
    const int k = e / width, j = e % width;
    u[k][j] = j < w && k <= j ? square[k + j * lds] : T(k == j ? 1 : 0);
  }
  __syncthreads();
  const index_t row = blockIdx.x * index_t{rows_at_once} + threadIdx.x;
  if (row >= m) return;
  a += row;
  T x[width];
#pragma unroll
  for (int j = 0; j < width; ++j) x[j] = j < w ? a[j * lda] : T(0);
#pragma unroll
  for (int k = 0; k < width; ++k) {
    x[k] = quotient(x[k], u[k][k]);
#pragma unroll
    for (int j = k + 1; j < width; ++j) x[j] = minus_product(x[j], x[k], u[k][j]);
  }
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (j < w) a[j * lda] = row < factored && j >= row ? u[row][j] : x[j];
}

inline constexpr int solved_at_once = 8;          // columns per block
inline constexpr index_t most_solved_rows = 256;  // rows of the largest instance

/// Solves L X = C in place for a unit lower triangle L of at most 32 `blocks` rows: one warp per column, which keeps
/// its elements in registers. The block loads the squares of L one after the other, each while the previous one is in
/// use.
template <class T, int blocks>
__global__ void __launch_bounds__(32 * solved_at_once)
    solve_unit_lower_kernel(int rows, index_t columns, const T* l, index_t ldl, T* c, index_t ldc) {
  constexpr int loads = 32 / solved_at_once;
  __shared__ T square[32][33], solved[solved_at_once][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const index_t j = blockIdx.x * index_t{solved_at_once} + warp;
  const bool inside = j < columns;
  c += j * ldc;
  T x[blocks], next[loads];
#pragma unroll
  for (int b = 0; b < blocks; ++b) x[b] = inside && b * 32 + lane < rows ? c[b * 32 + lane] : T(0);
  const auto load = [&](int row, int column) {
#pragma unroll
    for (int e = 0; e < loads; ++e) {
      const int i = row + lane, k = column + warp + e * solved_at_once;
      next[e] = i < rows && k < i ? l[i + k * ldl] : T(0);
    }
  };
  load(0, 0);
#pragma unroll
  for (int k = 0; k < blocks; ++k)
#pragma unroll
    for (int i = k; i < blocks; ++i) {
      __syncthreads();
#pragma unroll
      for (int e = 0; e < loads; ++e) square[warp + e * solved_at_once][lane] = next[e];
      __syncthreads();
      if (i + 1 < blocks)
        load((i + 1) * 32, k * 32);
      else if (k + 1 < blocks)
        load((k + 1) * 32, (k + 1) * 32);
      if (i == k) {
#pragma unroll 8
        for (int s = 0; s < 32; ++s) {
          if (lane == s) solved[warp][s] = x[k];
          __syncwarp();
          if (lane > s) x[k] = minus_product(x[k], square[s][lane], solved[warp][s]);
        }
      } else {
#pragma unroll 8
        for (int s = 0; s < 32; ++s) x[i] = minus_product(x[i], square[s][lane], solved[warp][s]);
      }
    }
#pragma unroll
  for (int b = 0; b < blocks; ++b)
    if (inside && b * 32 + lane < rows) c[b * 32 + lane] = x[b];
}

}  // namespace tesela::kernels
