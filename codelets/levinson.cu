#include "codelets/levinson.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cooperative_groups.h>

// One cluster of thread blocks for each right-hand side of each shift (or for each shift, without any), so that a
// step's two sums cross the cluster's shared memories and nothing waits for the whole GPU. A thread owns some elements
// of x and y for the whole solve, in registers. y is also in memory, twice: an order's updates read the reversed y of
// the order before, which belongs to other threads. A right-hand side more costs a y more, and no waiting.

namespace tesela {
namespace {

constexpr int threads = 512, most_blocks = 16, warps = threads / 32;

template <class T>
struct Problem {
  const T* t;
  const T* shifts;
  index_t n, columns;  // right-hand sides of a shift, 1 without any
  T* x;                // b at first; null: none, and inverse becomes the first column of the inverse
  T* inverse;
  index_t ld;
  double* report;
  index_t ld_report;
  T* work;
  index_t ld_work;
};

/// The blocks that solve one problem: a cluster, or one block where there are none (before compute capability 9).
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

/// Sums of two numbers over the cluster, in the same order for every thread. `part` alternates with the steps, so that
/// one barrier a sum is enough.
template <class T>
struct ClusterSums {
  T of_warps[2][warps];
  T of_blocks[2][2][most_blocks];

  __device__ void operator()(Cluster& cluster, int part, T& a, T& b) {
    for (int d = 16; d > 0; d /= 2) {
      a += __shfl_xor_sync(0xffffffffu, a, d);
      b += __shfl_xor_sync(0xffffffffu, b, d);
    }
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = cluster.blocks();
    if (lane == 0) of_warps[0][warp] = a, of_warps[1][warp] = b;
    __syncthreads();
    if (warp == 0) {
      a = lane < warps ? of_warps[0][lane] : T(0);
      b = lane < warps ? of_warps[1][lane] : T(0);
      for (int d = warps / 2; d > 0; d /= 2) {
        a += __shfl_xor_sync(0xffffffffu, a, d);
        b += __shfl_xor_sync(0xffffffffu, b, d);
      }
      a = __shfl_sync(0xffffffffu, a, 0);
      b = __shfl_sync(0xffffffffu, b, 0);
      if (lane < blocks) {
        ClusterSums* const there = cluster.shared_of(this, lane);
        there->of_blocks[part][0][cluster.rank()] = a;
        there->of_blocks[part][1][cluster.rank()] = b;
      }
    }
    cluster.sync();
    a = b = 0;
    for (unsigned r = 0; r < blocks; ++r) a += of_blocks[part][0][r], b += of_blocks[part][1][r];
  }
};

__device__ inline bool finite(double x) { return fabs(x) <= 1.7976931348623157e308; }
__device__ inline bool finite(float x) { return fabsf(x) <= 3.402823466e38f; }

/// `own` elements a thread: element e of thread i is number i + e times the threads of the cluster.
template <class T, int own, bool has_x>
__global__ void __launch_bounds__(threads) levinson(Problem<T> p) {
  __shared__ ClusterSums<T> sums;
  Cluster cluster;
  const index_t n = p.n, width = index_t{threads} * cluster.blocks();
  const index_t first = cluster.rank() * index_t{threads} + threadIdx.x;
  const index_t problem = blockIdx.x / cluster.blocks(), shift = problem / p.columns;
  const bool speaks = first == 0 && problem % p.columns == 0;
  T* const column = has_x ? p.x + problem * p.ld : p.inverse + problem * p.ld;
  T* now = p.work + problem * p.ld_work;
  T* then = now + n;

  T x[own], y[own];
  for (int e = 0; e < own; ++e) x[e] = y[e] = 0;
  const T t1 = n > 1 ? p.t[1] : T(0);
  // Pivots are doubles: n small factors in a row would lose too much in single precision.
  double beta = static_cast<double>(p.t[0]) - static_cast<double>(p.shifts[shift]), least = fabs(beta);
  T alpha = beta != 0 ? static_cast<T>(-t1 / beta) : T(0), growth = 0;
  index_t negative = beta < 0 ? 1 : 0, broken = beta == 0 || !finite(beta) ? 1 : 0;
  T sum_x = 0, sum_y = 0;
  if (broken == 0) {
    const T x0 = has_x ? static_cast<T>(column[0] / beta) : T(0);
    sum_x = t1 * x0, sum_y = t1 * alpha;
    if (first == 0) x[0] = x0, y[0] = alpha, now[0] = alpha;
  }
  cluster.sync();

  for (index_t order = 1; order < n && broken == 0; ++order) {
    const bool last = order + 1 == n;
    const T b = has_x ? column[order] : T(0), ahead = last ? T(0) : p.t[order + 1];
    growth = fmax(growth, fabs(alpha));
    beta *= (1 - static_cast<double>(alpha)) * (1 + static_cast<double>(alpha));
    negative += beta < 0 ? 1 : 0;
    least = fmin(least, fabs(beta));
    if (beta == 0 || !finite(beta)) {
      broken = order + 1;
      break;
    }
    const double inverse = 1 / beta;
    const T mu = static_cast<T>((b - sum_x) * inverse), next = last ? T(0) : static_cast<T>(-(ahead + sum_y) * inverse);
    if (!finite(mu) || !finite(next)) broken = order + 1;
    sum_x = sum_y = 0;
#pragma unroll(own <= 16 ? own : 1)
    for (int e = 0; e < own; ++e) {
      const index_t j = first + e * width;
      if (j > order) break;
      const T turned = j < order ? now[order - 1 - j] : T(0), weight = last ? T(0) : p.t[order + 1 - j];
      if (has_x) {
        x[e] = j < order ? x[e] + mu * turned : mu;
        sum_x += weight * x[e];
      }
      y[e] = j < order ? y[e] + next * turned : next;
      sum_y += weight * y[e];
      then[j] = y[e];
    }
    if (last) break;
    sums(cluster, static_cast<int>(order % 2), sum_x, sum_y);
    T* const before = now;
    now = then;
    then = before;
    alpha = next;
  }

  // What overflowed in the last step has not shown yet.
  const T scale = static_cast<T>(1 / beta);
  T strange = 0, nothing = 0;
  for (int e = 0; e < own; ++e) {
    const index_t j = first + e * width;
    if (!has_x) x[e] = j + 1 < n ? y[e] * scale : T(0);
    if (!finite(x[e]) || !finite(scale)) strange = 1;
  }
  cluster.sync();  // the parts of the sums may be used again
  sums(cluster, 0, strange, nothing);
  if (strange != 0 && broken == 0) broken = n;
  for (int e = 0; e < own; ++e) {
    const index_t j = first + e * width, i = has_x ? j : j + 1;
    if (i < n) column[i] = broken == 0 ? x[e] : T(0);
  }
  if (!has_x && first == 0) column[0] = broken == 0 ? scale : T(0);
  if (speaks) {
    double* const report = p.report + shift * p.ld_report;
    report[levinson_negative] = static_cast<double>(negative);
    report[levinson_least] = least;
    report[levinson_growth] = static_cast<double>(growth);
    if (p.columns == 1) report[levinson_breakdown] = static_cast<double>(broken);
  }
  if (p.columns > 1 && first == 0) p.work[problem * p.ld_work + 2 * n] = static_cast<T>(broken);
}

/// A shift breaks down where one of its columns does: the first order, and then all of them become zero.
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
    for (index_t i = threadIdx.x; i < p.n; i += threads) p.x[(shift * p.columns + c) * p.ld + i] = T(0);
}

template <class T, int own, bool has_x>
int launch(const Problem<T>& p, index_t problems, int blocks, cudaStream_t stream) {
  const auto kernel = levinson<T, own, has_x>;
  if (blocks == 1) {
    kernel<<<static_cast<unsigned>(problems), threads, 0, stream>>>(p);
    return 0;
  }
  if (blocks > 8) {
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status != cudaSuccess) return static_cast<int>(status);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(problems * blocks));
  config.blockDim = dim3(threads);
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return static_cast<int>(cudaLaunchKernelEx(&config, kernel, p));
}

template <class T, bool has_x>
void solve(CudaContext& context, const Problem<T>& p, index_t problems) {
  int device = 0, capability = 0;
  if (!context.check(cudaGetDevice(&device), "cudaGetDevice") ||
      !context.check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device),
                     "cudaDeviceGetAttribute"))
    return;
  const int most = capability >= 9 ? most_blocks : 1;
  // A few elements a thread hide what a barrier costs; many problems fill the GPU with smaller clusters.
  int blocks = 1;
  const auto fits = [&](int wanted) { return problems * wanted <= 128; };
  while (blocks < most && p.n > index_t{threads} * blocks * 2 && (fits(2 * blocks) || p.n > threads * 16 * blocks))
    blocks *= 2;
  const index_t own = ceil_div(p.n, index_t{threads} * blocks);
  const cudaStream_t stream = context.stream();
  int status = 0;
  if (own <= 1)
    status = launch<T, 1, has_x>(p, problems, blocks, stream);
  else if (own <= 2)
    status = launch<T, 2, has_x>(p, problems, blocks, stream);
  else if (own <= 4)
    status = launch<T, 4, has_x>(p, problems, blocks, stream);
  else if (own <= 8)
    status = launch<T, 8, has_x>(p, problems, blocks, stream);
  else if (own <= 16)
    status = launch<T, 16, has_x>(p, problems, blocks, stream);
  else if (own <= 128)
    status = launch<T, 128, has_x>(p, problems, blocks, stream);
  else
    status = static_cast<int>(cudaErrorNotSupported);
  if (!context.check(status, "the launch of levinson")) return;
  if (p.columns > 1) join_columns<<<static_cast<unsigned>(problems / p.columns), threads, 0, stream>>>(p);
}

}  // namespace

template <class T>
void Levinson<T>::cuda(CudaContext& context, const Args&, In<T> t, In<T> shifts, InOut<T> x, Out<double> report,
                       Scratch<T> work) noexcept {
  solve<T, true>(context,
                 {t.data, shifts.data, t.rows, x.cols / shifts.rows, x.data, nullptr, x.ld, report.data, report.ld,
                  work.data, work.ld},
                 x.cols);
}

template <class T>
void Durbin<T>::cuda(CudaContext& context, const Args&, In<T> t, In<T> shifts, Out<T> inverse, Out<double> report,
                     Scratch<T> work) noexcept {
  solve<T, false>(
      context,
      {t.data, shifts.data, t.rows, 1, nullptr, inverse.data, inverse.ld, report.data, report.ld, work.data, work.ld},
      shifts.rows);
}

template struct Levinson<float>;
template struct Levinson<double>;
template struct Durbin<float>;
template struct Durbin<double>;

}  // namespace tesela
