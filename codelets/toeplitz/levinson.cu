#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/levinson.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cooperative_groups.h>
#include <type_traits>

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
  double beta = static_cast<double>(p.t[0]) - ldexp(sigma, -p.exponent), least = fabs(beta);
  T alpha = beta != 0 ? static_cast<T>(-t1 / beta) : T(0), growth = 0;
  index_t negative = beta < 0 ? 1 : 0, symmetric = n % 2 == 1 ? negative : 0, skew = 0,
          broken = beta == 0 || !finite(beta) ? 1 : 0;
  T sum_x = 0, sum_y = 0;
  if (broken == 0) {
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
  for (index_t order = 1; order < n && broken == 0; ++order) {
    const bool last = order + 1 == n;
    growth = fmax(growth, fabs(alpha));
    if (!has_x && (n - order) % 2 == 1) {
      symmetric += beta * (1 - static_cast<double>(alpha)) < 0 ? 1 : 0;
      skew += beta * (1 + static_cast<double>(alpha)) < 0 ? 1 : 0;
    }
    beta = following;
    negative += beta < 0 ? 1 : 0;
    least = fmin(least, fabs(beta));
    if (beta == 0 || !finite(beta)) {
      broken = order + 1;
      break;
    }
    const T mu = static_cast<T>((b - sum_x) * inverse), next = last ? T(0) : static_cast<T>(-(ahead + sum_y) * inverse);
    if (!finite(mu) || !finite(next)) broken = order + 1;
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
  if (strange != 0 && broken == 0) broken = n;
#pragma unroll(own <= 16 ? own : 1)
  for (int e = 0; e < own; ++e) {
    const index_t j = first + e * width, i = has_x ? j : j + 1;
    if (i < n) column[i] = broken == 0 ? x[e] : T(0);
  }
  if (!has_x && first == 0) column[0] = broken == 0 ? scale : T(0);
  if (first == 0 && p.counts) {
    for (int part = 0; part < 2; ++part) {
      double* const report = p.report + (2 * shift + part) * p.ld_report;
      report[CauchyReport::negative] = static_cast<double>(part == 0 ? symmetric : skew);
      report[CauchyReport::breakdown] = static_cast<double>(broken);
      report[CauchyReport::smallest_pivot] = fabs(beta);
      report[CauchyReport::largest] = static_cast<double>(growth);
    }
  } else if (first == 0 && problem % p.columns == 0) {
    double* const report = p.report + shift * p.ld_report;
    report[levinson_negative] = static_cast<double>(negative);
    report[levinson_least] = ldexp(least, p.exponent);
    report[levinson_growth] = static_cast<double>(growth);
    if (p.columns == 1) report[levinson_breakdown] = static_cast<double>(broken);
  }
  if (p.columns > 1 && first == 0) p.work[problem * p.ld_work + 2 * n] = static_cast<T>(broken);
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

/// Numbers of shared memory for each of a problem's n elements.
constexpr index_t shared_numbers = 3;
/// A block's shared memory on every GPU since compute capability 8, with room for the sums.
constexpr index_t shared_bytes = 160 * 1024;

template <class T, int threads, int own, bool has_x>
int launch_alone(const Problem<T>& p, index_t problems, cudaStream_t stream) {
  const auto kernel = levinson<T, threads, own, has_x, true>;
  const auto bytes = static_cast<int>(shared_numbers * p.n * index_t{sizeof(T)});
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return static_cast<int>(status);
  kernel<<<static_cast<unsigned>(problems), threads, static_cast<unsigned>(bytes), stream>>>(p);
  return 0;
}

/// Launches clusters of this number of blocks. If `active` is not null, only counts how many of them run at once.
template <class T, int own, bool has_x>
int launch(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream, int* active) {
  const auto kernel = levinson<T, most_threads, own, has_x, false>;
  if (blocks == 1 && active == nullptr) {
    kernel<<<static_cast<unsigned>(problems), most_threads, 0, stream>>>(p);
    return 0;
  }
  if (blocks > 8) {
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status != cudaSuccess) return static_cast<int>(status);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(problems * blocks));
  config.blockDim = dim3(most_threads);
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return static_cast<int>(active != nullptr ? cudaOccupancyMaxActiveClusters(active, kernel, &config)
                                            : cudaLaunchKernelEx(&config, kernel, p));
}

/// Calls `f` with the smallest sufficient number of elements per thread, as a constant.
template <class F>
int with_own(index_t needed, const F& f) {
  if (needed <= 1) return f(std::integral_constant<int, 1>());
  if (needed <= 2) return f(std::integral_constant<int, 2>());
  if (needed <= 4) return f(std::integral_constant<int, 4>());
  if (needed <= 8) return f(std::integral_constant<int, 8>());
  if (needed <= 16) return f(std::integral_constant<int, 16>());
  if (needed <= 128) return f(std::integral_constant<int, 128>());
  return static_cast<int>(cudaErrorNotSupported);
}

template <class T, bool has_x>
int launch_clusters(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream, int* active) {
  return with_own(ceil_div(p.n, index_t{most_threads} * blocks),
                  [&](auto own) { return launch<T, own, has_x>(p, problems, blocks, stream, active); });
}

template <class T, int threads, bool has_x>
int launch_blocks(const Problem<T>& p, index_t problems, cudaStream_t stream) {
  return with_own(ceil_div(p.n, threads), [&](auto own) {
    if constexpr (own <= 16)
      return launch_alone<T, threads, own, has_x>(p, problems, stream);
    else
      return static_cast<int>(cudaErrorNotSupported);
  });
}

/// Chooses as few barriers and threads as possible: a problem that fits into one block gets one. A larger problem gets
/// the largest cluster with which all problems run at once, or the smallest whose registers hold its numbers.
template <class T, bool has_x>
int solve_on(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream) {
  const bool fits = p.n <= 16 * most_threads && shared_numbers * p.n * index_t{sizeof(T)} <= shared_bytes;
  if (blocks == 0 && fits)
    return p.n <= 16 * few_threads ? launch_blocks<T, few_threads, has_x>(p, problems, stream)
                                   : launch_blocks<T, most_threads, has_x>(p, problems, stream);
  int device = 0, capability = 0, status = static_cast<int>(cudaGetDevice(&device));
  if (status == 0)
    status = static_cast<int>(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device));
  if (capability < 9) blocks = 1;
  if (blocks == 0) {
    blocks = 1;
    while (blocks < most_blocks && p.n > index_t{16} * most_threads * blocks) blocks *= 2;
    for (int more = 2 * blocks; status == 0 && more <= most_blocks; more *= 2) {
      int active = 0;
      status = launch_clusters<T, has_x>(p, problems, more, stream, &active);
      if (active < problems) break;
      blocks = more;
    }
  }
  return status != 0 ? status : launch_clusters<T, has_x>(p, problems, blocks, stream, nullptr);
}

template <class T, bool has_x>
void solve(const CudaContext& context, const Problem<T>& p, index_t problems, int blocks = 0) {
  if (!context.check(solve_on<T, has_x>(p, problems, blocks, context.stream()), "the launch of levinson")) return;
  if (p.columns > 1)
    join_columns<<<static_cast<unsigned>(problems / p.columns), most_threads, 0, context.stream()>>>(p);
}

}  // namespace

template <class T>
void Levinson<T>::cuda(CudaContext& context, const Args& args, In<T> t, In<T> shifts, InOut<T> x, Out<double> report,
                       Scratch<T> work) {
  const toeplitz::Device machine{context};
  T* const exponents = work.data + 2 * t.rows + 1;
  machine.to_unit(t.rows, x.cols, x.data, x.ld, exponents, work.ld);
  solve<T, true>(context,
                 {t.data, shifts.data, nullptr, t.rows, x.cols / shifts.rows, x.data, nullptr, x.ld, report.data,
                  report.ld, work.data, work.ld, args.exponent, false},
                 x.cols, args.blocks);
  machine.times_powers(t.rows, x.cols, x.data, x.ld, exponents, work.ld, -args.exponent);
}

template <class T>
void Durbin<T>::cuda(CudaContext& context, const Args& args, In<T> t, In<T> shifts, Out<T> inverse, Out<double> report,
                     Scratch<T> work) {
  solve<T, false>(context,
                  {t.data, shifts.data, nullptr, t.rows, 1, nullptr, inverse.data, inverse.ld, report.data, report.ld,
                   work.data, work.ld, args.exponent, false},
                  shifts.rows, args.blocks);
  if (args.exponent != 0)
    toeplitz::Device{context}.each(t.rows, shifts.rows,
                                   toeplitz::TimesPower<T>{inverse.data, inverse.ld, -args.exponent});
}

template <class T>
void LevinsonCount<T>::cuda(CudaContext& context, const Args&, In<T> t, In<double> sigma, Out<double> report,
                            Scratch<T> work) {
  T* const columns = work.data + levinson_work_rows(t.rows);
  solve<T, false>(context,
                  {t.data, nullptr, sigma.data, t.rows, 1, nullptr, columns, work.ld, report.data, report.ld, work.data,
                   work.ld, 0, true},
                  sigma.rows);
}

template <class T>
void levinson_solve(CudaContext& context, index_t n, const T* t, index_t count, const double* sigma, T* x, index_t ld,
                    double* report, T* work) {
  solve<T, true>(
      context,
      {t, nullptr, sigma, n, 1, x, nullptr, ld, report, levinson_report_rows, work, levinson_work_rows(n), 0, false},
      count);
}

template void levinson_solve(CudaContext&, index_t, const float*, index_t, const double*, float*, index_t, double*,
                             float*);
template void levinson_solve(CudaContext&, index_t, const double*, index_t, const double*, double*, index_t, double*,
                             double*);
template decltype(LevinsonCount<float>::cuda) LevinsonCount<float>::cuda;
template decltype(LevinsonCount<double>::cuda) LevinsonCount<double>::cuda;
template decltype(Levinson<float>::cuda) Levinson<float>::cuda;
template decltype(Levinson<double>::cuda) Levinson<double>::cuda;
template decltype(Durbin<float>::cuda) Durbin<float>::cuda;
template decltype(Durbin<double>::cuda) Durbin<double>::cuda;

}  // namespace tesela::kernels
