#pragma once

#include <tesela/codelets/qr/internal/append_rows_launch.cuh>
#include <tesela/codelets/support/internal/mma_f64.cuh>

// The fast path for well-conditioned rows. It forms A^T A on the FP64 tensor cores, directly from A in memory, and its
// Cholesky factor, and checks by a bound on the inverse of this factor that no accuracy is lost. Otherwise the
// reflectors of append_rows_launch.cuh process A from its first row on.
//
// Let D be the columns' norms, G = A^T A + E with |E(i, j)| <= c eps D(i) D(j), and X = (R D^-1)^-1. Then R is the
// factor of A + dA with ||dA(:, j)|| <= ||X|| ||E(:, j)|| / (2 D(j)), to first order: as accurate as reflectors while
// ||X|| is small, each column relative to its norm. c does not grow with the rows: 64 products make a sum, and these
// sums are added with the rounding error of each addition kept.

namespace tesela::kernels {

/// Blocks of 8 columns, blocks of 16 rows that a lane loads at once, and the products of 16 x 8 that cover the upper
/// triangle.
template <int N>
struct GramShape {
  static constexpr int H = N / 8, sets = N == 8 ? 8 : N == 16 ? 4 : N == 24 ? 2 : 1, rows = 16 * sets, warps = 8;
  static constexpr int products = H == 1 ? 1 : H == 2 ? 2 : H == 3 ? 4 : 6;
};

/// Adds x to sum and the rounding error to lost (Knuth).
__device__ inline void add_compensated(double& sum, double& lost, double x) {
  const double s = sum + x, rest = s - sum;
  lost += (sum - (s - rest)) + (x - rest);
  sum = s;
}

/// Part of A^T A that one warp computes.
template <class T, int N>
class Gram {
  using S = GramShape<N>;
  static constexpr int vector = 16 / static_cast<int>(sizeof(T));

 public:
  using Rows = T[S::sets][S::H][4];

  __device__ Gram(const AppendProblem<T, N>& p, int lane) : g_(lane / 4), t_(lane % 4) {
#pragma unroll
    for (int h = 0; h < S::H; ++h) column_[h] = p.column[8 * h + g_ < p.n ? 8 * h + g_ : 0];
  }

  /// Requests the rows from `row` on, which exist and are aligned to 16 bytes. A lane loads four of 16 rows. One set of
  /// rows is loaded while another is multiplied.
  __device__ void load(Rows& x, index_t row) const {
#pragma unroll
    for (int s = 0; s < S::sets; ++s)
#pragma unroll
      for (int h = 0; h < S::H; ++h) {
        const T* const from = column_[h] + row + 16 * s + vector * t_;
        if constexpr (vector == 2) {
          ask(x[s][h][0], x[s][h][1], from);
          ask(x[s][h][2], x[s][h][3], from + 8);
        } else {
          ask(x[s][h], from);
        }
      }
  }

  /// Loads rows without these conditions; rows beyond m are zeros.
  __device__ void load_unaligned_rows(Rows& x, index_t row, index_t m) const {
#pragma unroll
    for (int s = 0; s < S::sets; ++s)
#pragma unroll
      for (int h = 0; h < S::H; ++h)
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const index_t at = row + 16 * s + 4 * t_ + q;
          x[s][h][q] = at < m ? __ldg(column_[h] + at) : T(0);
        }
  }

  __device__ void add(const Rows& x) {
#pragma unroll
    for (int s = 0; s < S::sets; ++s) {
      int product = 0;
#pragma unroll
      for (int a = 0; a < S::H; a += 2) {
        const int above = a, below = a + 1 < S::H ? a + 1 : a;
        double left[8];
#pragma unroll
        for (int q = 0; q < 4; ++q) left[2 * q] = x[s][above][q], left[2 * q + 1] = x[s][below][q];
#pragma unroll
        for (int b = a; b < S::H; ++b) {
          const double right[4] = {x[s][b][0], x[s][b][1], x[s][b][2], x[s][b][3]};
          multiply_add(part_[product++], left, right);
        }
      }
    }
  }

  /// Folds the products since the last call into the sum. Called after about a hundred roundings.
  __device__ void fold() {
#pragma unroll
    for (int product = 0; product < S::products; ++product)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        add_compensated(sum_[product][e], lost_[product][e], part_[product][e]);
        part_[product][e] = 0;
      }
  }

  /// Adds the sums to a matrix in shared memory, or stores them (`put`). The strict lower triangle there is undefined.
  __device__ void leave(double (*to)[N], bool put) const {
    int product = 0;
#pragma unroll
    for (int a = 0; a < S::H; a += 2)
#pragma unroll
      for (int b = a; b < S::H; ++b, ++product)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int i = 8 * (a + e / 2) + g_, j = 8 * b + 2 * t_ + e % 2;
          if (a + e / 2 <= b) to[i][j] = sum_[product][e] + lost_[product][e] + (put ? 0.0 : to[i][j]);
        }
  }

 private:
  __device__ static void ask(double& x, double& y, const double* from) {
    asm("ld.global.nc.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "l"(from));
  }
  __device__ static void ask(float (&x)[4], const float* from) {
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "l"(from));
  }

  int g_, t_;
  const T* column_[S::H];
  double part_[S::products][4] = {}, sum_[S::products][4] = {}, lost_[S::products][4] = {};
};

/// Replaces G's upper triangle by its Cholesky factor R. Returns true if R is certified: the columns' norms are in the
/// range where squares are safe, and ||(R D^-1)^-1||_F <= the limit. Runs in one warp, one lane per column.
template <int N>
__device__ __noinline__ bool cholesky(double (*g)[N], int n, double limit, int lane) {
  constexpr double high = 0x1p500, low = 0x1p-500;
  double a[N], x[N], inverse = 1;  // reciprocal of the diagonal element
  const double norm = lane < n ? g[lane][lane] : 1.0;
#pragma unroll
  for (int i = 0; i < N; ++i) a[i] = lane < n && i <= lane ? g[i][lane] : i == lane ? 1.0 : 0.0;
#pragma unroll
  for (int k = 0; k < N; ++k) {                                     // the values below the diagonal are not used
    const double y = approximate_rsqrt(__shfl_sync(~0u, a[k], k));  // NaN if G is not positive definite
    if (lane == k) inverse = y;
    a[k] *= y;
#pragma unroll
    for (int i = k + 1; i < N; ++i) a[i] = fma(-__shfl_sync(~0u, a[k], i), a[k], a[i]);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = i == lane ? 1.0 : 0.0;
  double size = 0;
#pragma unroll
  for (int i = N - 1; i >= 0; --i) {  // R^-1, row after row, from the last one
    x[i] *= __shfl_sync(~0u, inverse, i);
    size = fma(__shfl_sync(~0u, norm, i) * x[i], x[i], size);
#pragma unroll
    for (int k = 0; k < i; ++k) x[k] = fma(-__shfl_sync(~0u, a[k], i), x[i], x[k]);
  }
  if (lane >= n) size = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) size += __shfl_xor_sync(~0u, size, step);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (lane < n && i <= lane) g[i][lane] = a[i];
  __syncwarp();
  return __all_sync(~0u, norm > low && norm < high && size <= limit * limit);  // false for NaN
}

/// Limit of ||X||. In single precision all is computed in double, so only the rounding of R to single matters.
template <class T>
inline constexpr double gram_limit = std::is_same_v<T, double> ? 16 : 1 << 20;

/// Rows, sampled over A, by which one warp decides whether to continue.
inline constexpr int gram_sample_rows = 128;

template <class T, int N>
__global__ void __launch_bounds__(32 * GramShape<N>::warps, 1)
    gram_kernel(const __grid_constant__ AppendProblem<T, N> p) {
  using S = GramShape<N>;
  __shared__ double g[N][N];
  __shared__ bool last;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, place = __shfl_sync(~0u, thread / 32, 0);
  const index_t number = static_cast<index_t>(blockIdx.x) * S::warps + place,
                stride = static_cast<index_t>(gridDim.x) * S::warps * S::rows;
  GramState& state = *p.gram;

  Gram<T, N> gram(p, lane);
  typename Gram<T, N>::Rows even, odd;
  index_t row = number * S::rows;
  if (row + S::rows == stride) {  // the last warp, which has the least work
    const index_t apart = p.m / gram_sample_rows * S::rows;
#pragma unroll 1
    for (int q = 0; q < gram_sample_rows / S::rows; ++q) {
      gram.load_unaligned_rows(even, q * apart, p.m);
      gram.add(even);
    }
    gram.fold();
    gram.leave(g, true);
    gram = Gram<T, N>(p, lane);
    __syncwarp();
    if (!cholesky(g, p.n, gram_limit<T>, lane) && lane == 0) *static_cast<volatile int*>(&state.hopeless) = 1;
  }

  const index_t whole = p.aligned ? p.m - S::rows : -1;  // the last row from which a turn has all its rows
  bool hopeless = false;
  if (row <= whole) {
    gram.load(even, row);
    while (row + stride <= whole && !hopeless) {  // both turns without a branch: no load may wait for one
      gram.load(odd, row + stride);
      hopeless = *static_cast<volatile int*>(&state.hopeless) != 0;
      gram.add(even);
      row += 2 * stride;
      gram.load(even, row <= whole ? row : row - stride);
      gram.add(odd);
      gram.fold();
    }
    if (row <= whole && !hopeless) {
      gram.add(even);
      gram.fold();
      row += stride;
    }
  }
#pragma unroll 1
  for (; row < p.m && !hopeless; row += stride) {
    gram.load_unaligned_rows(even, row, p.m);
    hopeless = *static_cast<volatile int*>(&state.hopeless) != 0;
    gram.add(even);
    gram.fold();
  }

  for (int turn = 0; turn < S::warps; ++turn) {  // in turn, so that the order of the sum is fixed
    __syncthreads();
    if (place == turn) gram.leave(g, turn == 0);
  }
  __syncthreads();
  for (int e = thread; e < N * N; e += 32 * S::warps) p.sums[blockIdx.x * (N * N) + e] = g[e / N][e % N];
  __threadfence();
  __syncthreads();
  if (thread == 0) last = atomicAdd(&state.finished, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int e = thread; e < N * N; e += 32 * S::warps) {
    double sum = 0;
#pragma unroll 32
    for (unsigned block = 0; block < gridDim.x; ++block) sum += __ldcg(&p.sums[block * (N * N) + e]);
    g[e / N][e % N] = sum;
  }
  __syncthreads();
  if (place != 0 || *static_cast<volatile int*>(&state.hopeless) != 0) return;
  if (!cholesky(g, p.n, gram_limit<T>, lane)) return;
#pragma unroll 1
  for (int c = 0; c < p.n; ++c) {
    const double value = lane <= c ? g[lane][c] : 0.0;
    if (p.stack != nullptr) {  // above the triangle that it will be joined with
      if (lane < N) p.stack[lane + c * p.ld] = value;
      if (lane < N) p.stack[N + lane + c * p.ld] = lane <= c ? static_cast<double>(p.old[lane + c * p.ld_old]) : 0.0;
    } else if (lane < p.n) {
      if (p.r_double != nullptr) p.r_double[lane + c * p.ldr] = value;
      if (p.r_single != nullptr) p.r_single[lane + c * p.ldr] = static_cast<float>(value);
    }
  }
  if (lane == 0) state.certified = 1;
}

}  // namespace tesela::kernels
