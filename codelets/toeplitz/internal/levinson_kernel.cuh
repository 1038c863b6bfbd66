#pragma once

#include <tesela/codelets/toeplitz/levinson.hpp>

#include <cooperative_groups.h>

// Levinson's recursion on a GPU. Internal to codelets/toeplitz.
//
// Each right-hand side of each shift (or each shift, without right-hand sides) has one cluster of thread blocks, so
// that a step's two sums cross the cluster's shared memories and nothing waits for the whole GPU. A thread owns some
// elements of x and y for the whole solve, in registers. y is also in memory, twice: an order's updates read the
// reversed y of the previous order, which belongs to other threads.

namespace tesela::kernels {
namespace {

constexpr int most_threads = 512, few_threads = 128, most_blocks = 16;

template <class T>
struct Problem {
  const T* t;
  const T* shifts;
  const double* sigma;  // the shifts, or null
  index_t n, columns;   // right-hand sides per shift, 1 without any
  T* x;                 // initially b; null: none, and inverse becomes the first column of the inverse
  T* inverse;
  index_t ld;
  double* report;
  index_t ld_report;
  T* work;
  index_t ld_work;
  int exponent;  // of t
  bool counts;   // a CauchyReport of each shift's two parts is required
};

/// Blocks that solve one problem: a cluster, or one block without cluster support (before compute capability 9).
struct Cluster {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cooperative_groups::cluster_group group = cooperative_groups::this_cluster();
  __device__ unsigned blocks() const { return group.num_blocks(); }
  __device__ unsigned rank() const { return group.block_rank(); }
  __device__ void sync() { group.sync(); }
  template <class S>
  __device__ S* shared_of(S* mine, unsigned other) {
    return group.map_shared_rank(mine, other);
  }
#else
  __device__ unsigned blocks() const { return 1; }
  __device__ unsigned rank() const { return 0; }
  __device__ void sync() { __syncthreads(); }
  template <class S>
  __device__ S* shared_of(S* mine, unsigned) {
    return mine;
  }
#endif
};

/// Sums two numbers over all threads of a problem in a fixed order. `part` alternates: one barrier a step is enough.
template <class T, int warps>
struct Sums {
  T of_warps[2][2][warps];
  T of_blocks[2][2][most_blocks];

  __device__ void in_warps(int part, T& a, T& b) {
    for (int d = 16; d > 0; d /= 2) {
      a += __shfl_xor_sync(0xffffffffu, a, d);
      b += __shfl_xor_sync(0xffffffffu, b, d);
    }
    if (threadIdx.x % 32 == 0) of_warps[part][0][threadIdx.x / 32] = a, of_warps[part][1][threadIdx.x / 32] = b;
    __syncthreads();
  }
  __device__ T over_warps(int part, int which) const {
    const T* const w = of_warps[part][which];
    T sums[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sums[i] = w[i];
#pragma unroll
      for (int j = i + 4; j < warps; j += 4) sums[i] += w[j];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  __device__ void sum_over_block(int part, T& a, T& b) {
    in_warps(part, a, b);
    a = over_warps(part, 0);
    b = over_warps(part, 1);
  }
  __device__ void sum_over_cluster(Cluster& cluster, int part, T& a, T& b) {
    in_warps(part, a, b);
    const unsigned blocks = cluster.blocks();
    if (threadIdx.x < blocks) {
      Sums* const there = cluster.shared_of(this, threadIdx.x);
      there->of_blocks[part][0][cluster.rank()] = over_warps(part, 0);
      there->of_blocks[part][1][cluster.rank()] = over_warps(part, 1);
    }
    cluster.sync();
    a = b = 0;
    for (unsigned r = 0; r < blocks; ++r) a += of_blocks[part][0][r], b += of_blocks[part][1][r];
  }
};

/// Returns 1 / x to the last bit or two, faster than a division; infinite for 0 and if the inverse overflows.
__device__ inline double approximate_inverse(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double error = fma(-x, r, 1.0);  // below 2^-20, or NaN
  const double better = fma(r, fma(error, error, error), r);
  return fabs(error) < 1 ? better : 1 / x;
}

__device__ inline bool finite(double x) { return fabs(x) <= 1.7976931348623157e308; }
__device__ inline bool finite(float x) { return fabsf(x) <= 3.402823466e38f; }

/// Report of a recursion on its pivots, the same in all threads of a problem.
template <class T>
struct Pivots {
  double least;
  T growth = 0;
  index_t negative, symmetric, skew = 0;
  index_t broken;  // the order of a breakdown

  __device__ __forceinline__ Pivots(index_t n, double beta)
      : least(fabs(beta)),
        negative(beta < 0 ? 1 : 0),
        symmetric(n % 2 == 1 ? negative : 0),
        broken(beta == 0 || !finite(beta) ? 1 : 0) {}

  /// Counts the negative pivots of the symmetric and the skew part.
  __device__ __forceinline__ void count_parts(double beta, T alpha) {
    symmetric += beta * (1 - static_cast<double>(alpha)) < 0 ? 1 : 0;
    skew += beta * (1 + static_cast<double>(alpha)) < 0 ? 1 : 0;
  }
  /// Notes the next pivot; returns whether it can be divided by.
  __device__ __forceinline__ bool take(index_t order, double beta, T alpha) {
    growth = fmax(growth, fabs(alpha));
    negative += beta < 0 ? 1 : 0;
    least = fmin(least, fabs(beta));
    const bool fails = beta == 0 || !finite(beta);
    if (fails) broken = order + 1;
    return !fails;
  }
  /// Writes a shift's report; of several right-hand sides, the first one's recursion does.
  __device__ __forceinline__ void write(const Problem<T>& p, index_t problem, double beta) const {
    const index_t shift = problem / p.columns;
    if (p.counts) {
      for (int part = 0; part < 2; ++part) {
        double* const report = p.report + (2 * shift + part) * p.ld_report;
        report[CauchyReport::negative] = static_cast<double>(part == 0 ? symmetric : skew);
        report[CauchyReport::breakdown] = static_cast<double>(broken);
        report[CauchyReport::smallest_pivot] = fabs(beta);
        report[CauchyReport::largest] = static_cast<double>(growth);
      }
    } else if (problem % p.columns == 0) {
      double* const report = p.report + shift * p.ld_report;
      report[levinson_negative] = static_cast<double>(negative);
      report[levinson_least] = ldexp(least, p.exponent);
      report[levinson_growth] = static_cast<double>(growth);
      if (p.columns == 1) report[levinson_breakdown] = static_cast<double>(broken);
    }
    if (p.columns > 1) p.work[problem * p.ld_work + 2 * p.n] = static_cast<T>(broken);
  }
};

/// Solves with `own` elements per thread: element e of thread i is number i + e times the threads of the problem. A
/// problem that is `alone` in its block has t and both copies of y in shared memory, others have them in global memory.
template <class T, int threads, int own, bool has_x, bool alone>
__global__ void __launch_bounds__(threads) levinson(Problem<T> p) {
  extern __shared__ double memory[];
  __shared__ Sums<T, threads / 32> sums;
  Cluster cluster;
  const auto add_up = [&](int part, T& a, T& b) {
    if constexpr (alone)
      sums.sum_over_block(part, a, b);
    else
      sums.sum_over_cluster(cluster, part, a, b);
  };
  const index_t n = p.n, blocks = alone ? 1 : cluster.blocks(), width = threads * blocks;
  const index_t first = (alone ? 0 : index_t{threads} * cluster.rank()) + threadIdx.x;
  const index_t problem = blockIdx.x / blocks, shift = problem / p.columns;
  T* const column = has_x ? p.x + problem * p.ld : p.inverse + problem * p.ld;
  T* const shared = reinterpret_cast<T*>(memory);
  T* now = alone ? shared : p.work + problem * p.ld_work;
  T* then = now + n;
  const T* const t = alone ? shared + 2 * n : p.t;
  if (alone)
    for (index_t i = first; i < n; i += width) shared[2 * n + i] = p.t[i];

  T x[own], y[own];
#pragma unroll
  for (int e = 0; e < own; ++e) x[e] = y[e] = 0;
  const T t1 = n > 1 ? p.t[1] : T(0);
  // Pivots are doubles: n small factors in a row would lose too much accuracy in single precision.
  const double sigma = p.sigma != nullptr ? p.sigma[shift] : static_cast<double>(p.shifts[shift]);
  double beta = static_cast<double>(p.t[0]) - ldexp(sigma, -p.exponent);
  Pivots<T> pivots(n, beta);
  T alpha = beta != 0 ? static_cast<T>(-t1 / beta) : T(0);
  T sum_x = 0, sum_y = 0;
  if (pivots.broken == 0) {
    const T x0 = has_x ? static_cast<T>(column[0] / beta) : T(0);
    sum_x = t1 * x0, sum_y = t1 * alpha;
    if (first == 0) x[0] = x0, y[0] = alpha, now[0] = alpha;
  }
  if constexpr (alone)
    __syncthreads();
  else
    cluster.sync();

  // The first numbers of a step are loaded, and divided, while the previous step ends.
  T b = has_x && n > 1 ? column[1] : T(0), ahead = n > 2 ? t[2] : T(0);
  double factor = (1 - static_cast<double>(alpha)) * (1 + static_cast<double>(alpha));
  double following = beta * factor, inverse = approximate_inverse(following);
  for (index_t order = 1; order < n && pivots.broken == 0; ++order) {
    const bool last = order + 1 == n;
    if (!has_x && (n - order) % 2 == 1) pivots.count_parts(beta, alpha);
    beta = following;
    if (!pivots.take(order, beta, alpha)) break;
    const T mu = static_cast<T>((b - sum_x) * inverse), next = last ? T(0) : static_cast<T>(-(ahead + sum_y) * inverse);
    if (!finite(mu) || !finite(next)) pivots.broken = order + 1;
    sum_x = sum_y = 0;
#pragma unroll(own <= 16 ? own : 1)
    for (int e = 0; e < own; ++e) {
      const index_t j = first + e * width;
      if (j > order) break;
      const T turned = j < order ? now[order - 1 - j] : T(0), weight = last ? T(0) : t[order + 1 - j];
      if (has_x) {
        x[e] = j < order ? x[e] + mu * turned : mu;
        sum_x += weight * x[e];
      }
      y[e] = j < order ? y[e] + next * turned : next;
      sum_y += weight * y[e];
      then[j] = y[e];
    }
    if (last) break;
    if (has_x) b = column[order + 1];
    ahead = order + 2 < n ? t[order + 2] : T(0);
    factor = (1 - static_cast<double>(next)) * (1 + static_cast<double>(next));
    following = beta * factor;
    inverse = approximate_inverse(following);
    add_up(static_cast<int>(order % 2), sum_x, sum_y);
    T* const before = now;
    now = then;
    then = before;
    alpha = next;
  }

  // An overflow of the last step is not visible yet.
  const T scale = static_cast<T>(1 / beta);
  T strange = 0, nothing = 0;
#pragma unroll(own <= 16 ? own : 1)
  for (int e = 0; e < own; ++e) {
    const index_t j = first + e * width;
    if (!has_x) x[e] = j + 1 < n ? y[e] * scale : T(0);
    if (!finite(x[e]) || !finite(scale)) strange = 1;
  }
  if constexpr (alone)  // the parts of the sums may be reused
    __syncthreads();
  else
    cluster.sync();
  add_up(0, strange, nothing);
  if (strange != 0 && pivots.broken == 0) pivots.broken = n;
#pragma unroll(own <= 16 ? own : 1)
  for (int e = 0; e < own; ++e) {
    const index_t j = first + e * width, i = has_x ? j : j + 1;
    if (i < n) column[i] = pivots.broken == 0 ? x[e] : T(0);
  }
  if (!has_x && first == 0) column[0] = pivots.broken == 0 ? scale : T(0);
  if (first == 0) pivots.write(p, problem, beta);
}

/// Marks a shift as broken if a column is: the first order counts, and all its columns become zero.
template <class T>
__global__ void join_columns(Problem<T> p) {
  const index_t shift = blockIdx.x;
  T broken = 0;
  for (index_t c = 0; c < p.columns; ++c) {
    const T here = p.work[(shift * p.columns + c) * p.ld_work + 2 * p.n];
    if (here != 0 && (broken == 0 || here < broken)) broken = here;
  }
  if (threadIdx.x == 0) p.report[shift * p.ld_report + levinson_breakdown] = static_cast<double>(broken);
  if (broken == 0) return;
  for (index_t c = 0; c < p.columns; ++c)
    for (index_t i = threadIdx.x; i < p.n; i += blockDim.x) p.x[(shift * p.columns + c) * p.ld + i] = T(0);
}

}  // namespace
}  // namespace tesela::kernels
