#pragma once

#include <tesela/codelets/eigen/internal/ql_steps.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

// Symmetric matrices of small order in shared memory, and their reduction to tridiagonal form. A team of threads works
// on one matrix: some lanes of a warp, or several whole warps; each thread owns some of its rows. The teams of a warp
// run through the same loops, so that they stay together. Internal to codelets/.

namespace tesela::kernels::small_eig {

/// Numbers up to this size count as zero squares, relative to elements of size 1.
template <class T>
inline constexpr T square_of_nothing = std::numeric_limits<T>::min() / (ql::rounding<T> * ql::rounding<T>);

/// Returns 1 / sqrt(x) to a bit or two, for normal x > 0.
__device__ inline double inverse_root(double x) { return rsqrt(x); }
__device__ inline float inverse_root(float x) { return 1 / sqrtf(x); }  // rsqrtf's errors would accumulate

struct Maximum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Threads of one matrix: `lanes` of a warp, or all lanes of several warps. Thread `rank` owns the `rows` rows rank,
/// rank + threads, …
template <class T, int lanes, int own_rows, int warps>
struct Team {
  static_assert(warps == 1 || lanes == 32);
  using Number = T;
  static constexpr int threads = lanes * warps, rows = own_rows;

  int n, ld;
  int rank;
  T* x;          // the matrix, then Q, then the vectors; column-major
  T *u, *v, *w;  // of the reduction; free afterwards
  T* tau;
  T* partial;  // of each warp, in two halves
  T *d, *e;    // diagonal and off-diagonal, one copy per warp
  int turn = 0;

  /// Returns the leading dimension in shared memory. It is odd: neither columns nor rows share banks.
  __host__ __device__ static int leading(int n) { return n | 1; }
  __host__ __device__ static int numbers(int n) { return n * leading(n) + 4 * n + 2 * warps * (n + 1); }

  __device__ Team(int order, T* memory) : n(order), ld(leading(order)), rank(static_cast<int>(threadIdx.x) % threads) {
    x = memory + static_cast<int>(threadIdx.x) / threads * numbers(n);
    u = x + n * ld;
    v = u + n;
    w = v + n;
    tau = w + n;
    partial = tau + n;
    d = partial + 2 * warps;
    e = d + n;
  }

  __device__ int row(int r) const { return rank + r * threads; }
  __device__ void sync() const {
    if constexpr (warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
  /// Reduces by op over the team, with the same result for all its threads. With several warps it contains a barrier.
  template <class Op>
  __device__ T over(T value, Op op) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far /= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, far));
    if constexpr (warps > 1) {
      T* const all = partial + turn * warps;
      turn ^= 1;  // late threads still read the other half
      if (rank % 32 == 0) all[rank / 32] = value;
      __syncthreads();
      value = all[0];
#pragma unroll
      for (int i = 1; i < warps; ++i) value = op(value, all[i]);
    }
    return value;
  }

  __device__ int load(const T* a, index_t lda, bool present, int& exponent);
  template <bool vectors>
  __device__ void reduce();
  __device__ void form_q();
  /// Gives each warp its own d and e from here on.
  __device__ void part() {
    if constexpr (warps > 1) {
      T* const mine = d + 2 * n * (rank / 32);
      for (int i = rank % 32; mine != d && i < n; i += 32) mine[i] = d[i], mine[n + i] = e[i];
      sync();
      d = mine;
      e = mine + n;
    }
  }
};

/// Loads a matrix from its lower triangle, scaled by 2^-exponent, so that its elements are of size 1. Loads zeros if an
/// element is not finite or if there is no matrix. Returns 0, or -(1 + i + j n) of the first element, by columns, that
/// is not finite.
template <class T, int lanes, int rows, int warps>
__device__ int Team<T, lanes, rows, warps>::load(const T* a, index_t lda, bool present, int& exponent) {
  T largest = 0, bad = 0;  // n^2 minus the position of an element that is not finite; exact in float
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = row(r);
      if (i < j || i >= n) continue;
      const T value = present ? a[i + j * lda] : T(0), size = fabs(value);
      if (isfinite(size))
        largest = Maximum()(largest, size);
      else
        bad = Maximum()(bad, static_cast<T>(n * n - i - j * n));
      x[i + j * ld] = x[j + i * ld] = value;
    }
  largest = over(largest, Maximum());
  bad = over(bad, Maximum());
  sync();
  exponent = largest > 0 && bad == 0 ? ilogb(largest) : 0;
  const int half = -exponent / 2;
  const T first = ldexp(T(1), half), second = ldexp(T(1), -exponent - half);  // 2^-exponent may exceed T
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (T* const own = x + row(r) + j * ld; row(r) < n) *own = bad == 0 ? *own * first * second : T(0);
  return bad == 0 ? 0 : -(1 + n * n - static_cast<int>(bad));
}

/// Reduces A = Q T Q^T by Householder reflectors. Each step applies the last step's update of the matrix and multiplies
/// by the new vector in one pass. With vectors, reflector j stays in column j, below the diagonal.
template <class T, int lanes, int rows, int warps>
template <bool vectors>
__device__ void Team<T, lanes, rows, warps>::reduce() {
  T own_v[rows], own_w[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    own_v[r] = own_w[r] = 0;
    if (row(r) < n) v[row(r)] = w[row(r)] = 0;
  }
  for (int j = 0; j < n; ++j) {
    sync();
    T own[rows], squares = 0;
    const T vj = v[j], wj = w[j];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = row(r);
      own[r] = 0;
      if (i < j || i >= n) continue;
      own[r] = x[i + j * ld] - own_v[r] * wj - own_w[r] * vj;
      if (i == j) d[j] = own[r];
      if (i == j + 1) u[j] = own[r];  // no other thread needs that place
      if (i > j + 1) squares += own[r] * own[r];
    }
    if (j + 2 >= n) {
      sync();
      if (rank == 0) e[j] = j + 1 < n ? u[j] : T(0);
      continue;
    }
    squares = over(squares, Sum());
    sync();
    const T alpha = u[j], all = alpha * alpha + squares;
    const bool still = !(squares > square_of_nothing<T>);
    const T inverse = still ? T(0) : inverse_root(all), beta = still ? alpha : -copysign(all * inverse, alpha),
            t = still ? T(0) : 1 + fabs(alpha) * inverse, factor = still ? T(0) : 1 / (alpha - beta);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = row(r);
      own[r] = i == j + 1 ? T(1) : i > j + 1 && i < n ? own[r] * factor : T(0);
      if (i <= j || i >= n) continue;
      u[i] = own[r];
      if constexpr (vectors) x[i + j * ld] = own[r];
    }
    if (rank == 0) e[j] = beta, tau[j] = t;
    sync();

    T y[rows] = {};
    constexpr int together = 4;
    int c = j + 1;
    const auto pass = [&](auto few) {
      constexpr int some = few.value;
      T a[rows][some];
#pragma unroll
      for (int k = 0; k < some; ++k) {
        const T vc = v[c + k], wc = w[c + k], uc = u[c + k];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const int i = row(r);
          a[r][k] = (i > j && i < n ? x[i + (c + k) * ld] : T(0)) - own_v[r] * wc - own_w[r] * vc;
          y[r] += a[r][k] * uc;
        }
      }
#pragma unroll
      for (int k = 0; k < some; ++k)
#pragma unroll
        for (int r = 0; r < rows; ++r)
          if (const int i = row(r); i > j && i < n) x[i + (c + k) * ld] = a[r][k];
    };
    for (; c + together <= n; c += together) pass(std::integral_constant<int, together>());
    for (; c < n; ++c) pass(std::integral_constant<int, 1>());

    T product = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) product += y[r] * own[r];
    const T half = t * t / 2 * over(product, Sum());
    sync();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int i = row(r);
      own_v[r] = own[r];
      own_w[r] = i > j && i < n ? t * y[r] - half * own[r] : T(0);
      if (i > j && i < n) w[i] = own_w[r];
    }
    T* const last = v;
    v = u;
    u = last;
  }
}

/// Forms Q in place of the reflectors (LAPACK orgtr), one column per thread.
template <class T, int lanes, int rows, int warps>
__device__ void Team<T, lanes, rows, warps>::form_q() {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int i = row(r);
    if (i >= n) continue;
    x[i + (n - 1) * ld] = i == n - 1 ? T(1) : T(0);
    for (int c = n - 2; c > 0; --c) x[i + c * ld] = i >= c ? x[i + (c - 1) * ld] : T(0);
    x[i] = i == 0 ? T(1) : T(0);
  }
  for (int k = n - 2; k > 0; --k) {
    sync();
    const T t = tau[k - 1];
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (const int i = row(r); i >= k && i < n) u[i] = x[i + k * ld];
    sync();
    T sums[rows] = {};
#pragma unroll 4
    for (int i = k; i < n; ++i) {
      const T ui = u[i];
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (const int c = row(r); c > k && c < n) sums[r] += x[i + c * ld] * ui;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) sums[r] = row(r) == k ? t : sums[r] * t;
#pragma unroll 4
    for (int i = k; i < n; ++i) {
      const T ui = u[i];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const int c = row(r);
        if (c < k || c >= n) continue;
        const T old = c > k ? x[i + c * ld] : i == k ? T(1) : T(0);
        x[i + c * ld] = old - sums[r] * ui;
      }
    }
  }
  sync();
}

}  // namespace tesela::kernels::small_eig
