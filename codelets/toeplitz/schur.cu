#include <tesela/codelets/toeplitz/internal/schur_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>

#include <cuda_runtime_api.h>

// A warp owns `pairs` pairs of a generator in registers, `own` neighbours a lane, and runs the steps in rounds of 32.
// The warps form a chain: each round of a warp waits until the warp before it has written the numbers that leave its
// pairs in that round. A warp takes the next place when it starts, so a warp never waits for a warp
// that has not started.

namespace tesela::kernels {
namespace {

constexpr int own = 4, pairs = 32 * own, round_steps = 32, own_rounds = pairs / round_steps;
constexpr unsigned full = 0xffffffffu;

/// Counters of a chain: the next place, and for each round the number of warps that have finished it.
struct Chain {
  int* place;
  int* finished;

  __device__ int take_place() const {
    int mine = 0;
    if (threadIdx.x == 0) mine = atomicAdd(place, 1);
    return __shfl_sync(full, mine, 0);
  }
  __device__ void wait(index_t round, int mine) const {
    while (*static_cast<volatile int*>(finished + round) < mine) {
    }
    __threadfence();
    __syncwarp();
  }
  __device__ void finish(index_t round, int mine) const {
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 0) *static_cast<volatile int*>(finished + round) = mine + 1;
  }
};

/// Reads what another multiprocessor has written during this kernel.
template <class T>
__device__ T fresh(const T* from) {
  return *static_cast<const volatile T*>(from);
}

/// The pairs of a lane.
template <class T>
struct Strip {
  T u[own], v[own];

  __device__ void load(const T* from_u, const T* from_v) {
    for (int e = 0; e < own; ++e) u[e] = from_u[e], v[e] = from_v[e];
  }
  __device__ void update(T rho) {
#pragma unroll
    for (int e = 0; e < own; ++e) {
      const T a = u[e];
      u[e] = fma(rho, v[e], a);
      v[e] = fma(rho, a, v[e]);
    }
  }
  /// Moves each u by one place; `entering` becomes the first. Returns the last one in lane 31.
  __device__ T move(T entering) {
    const T leaving = u[own - 1], before = __shfl_up_sync(full, leaving, 1);
#pragma unroll
    for (int e = own - 1; e > 0; --e) u[e] = u[e - 1];
    u[0] = threadIdx.x == 0 ? entering : before;
    return leaving;
  }
  /// Moves each v back by one place, so that `count` of them remain, followed by zeros.
  __device__ void move_back(int count) {
    const T behind = __shfl_down_sync(full, v[0], 1);
    const int first = static_cast<int>(threadIdx.x) * own;
#pragma unroll
    for (int e = 0; e < own; ++e) v[e] = first + e < count ? (e + 1 < own ? v[(e + 1) % own] : behind) : T(0);
  }
};

/// Steps of other pairs: a round's coefficients and the numbers that enter and leave, in shared memory.
template <class T>
struct Round {
  T rho[round_steps], edge[round_steps];

  __device__ void run(Strip<T>& strip, const T* from_rho, T* at_edge) {
    const unsigned lane = threadIdx.x;
    rho[lane] = fresh(from_rho + lane);
    edge[lane] = fresh(at_edge + lane);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < round_steps; ++k) {
      strip.update(rho[k]);
      const T entering = edge[k], leaving = strip.move(entering);
      __syncwarp();
      if (lane == 31) edge[k] = leaving;
    }
    __syncwarp();
    at_edge[lane] = edge[lane];
  }
};

template <class T>
__global__ void __launch_bounds__(32) apply_kernel(index_t rounds, const T* rho, T* u, T* v, T* edge, Chain chain) {
  if (rho[rounds * round_steps] != 0) return;
  __shared__ Round<T> round;
  const int mine = chain.take_place();
  const index_t first = index_t{mine} * pairs + static_cast<index_t>(threadIdx.x) * own;
  Strip<T> strip;
  strip.load(u + first, v + first);
  for (index_t q = 0; q < rounds; ++q) {
    chain.wait(q, mine);
    round.run(strip, rho + q * round_steps, edge + q * round_steps);
    chain.finish(q, mine);
  }
  for (int e = 0; e < own; ++e) u[first + e] = strip.u[e], v[first + e] = strip.v[e];
}

__device__ inline bool finite(double x) { return fabs(x) <= 1.7976931348623157e308; }
__device__ inline bool finite(float x) { return fabsf(x) <= 3.402823466e38f; }

/// The report on the pivots, the same in all lanes.
struct Pivots {
  double* report;
  double negative, broken, least, growth;

  __device__ explicit Pivots(double* from)
      : report(from),
        negative(fresh(from + levinson_negative)),
        broken(fresh(from + levinson_breakdown)),
        least(fresh(from + levinson_least)),
        growth(fresh(from + levinson_growth)) {}
  template <class T>
  __device__ void take(T beta, index_t order) {
    negative += beta < 0 ? 1 : 0;
    least = fmin(least, fabs(static_cast<double>(beta)));
    if (beta == 0 || !finite(beta)) broken = static_cast<double>(order);
  }
  __device__ void write() const {
    if (threadIdx.x != 0) return;
    report[levinson_negative] = negative;
    report[levinson_breakdown] = broken;
    report[levinson_least] = least;
    report[levinson_growth] = growth;
  }
};

/// Runs the steps of a warp's own pairs, `own_rounds` rounds, from `step` on and below `end`. tail becomes the order of
/// a breakdown and the last pivot.
template <class T>
__device__ void run_own(Strip<T>& strip, index_t step, index_t end, T* rho, T* edge, T* tail, double* report,
                        const Chain& chain, index_t round, int mine) {
  Pivots pivots(report);
  T last = __shfl_sync(full, strip.u[0], 0);
  if (step == 0) pivots.take(last, 1);
  const bool writes = threadIdx.x == 0, has_steps = mine == 0 || step < end;
  for (int q = 0; q < own_rounds; ++q) {
    T kept = 0;
    for (int k = 0; k < round_steps; ++k, ++step) {
      const T beta = __shfl_sync(full, strip.u[0], 0), next = __shfl_sync(full, strip.v[0], 0);
      T r = 0;
      if (step < end && pivots.broken == 0) {
        r = static_cast<T>(-static_cast<double>(next) / static_cast<double>(beta));
        if (!finite(r)) {
          r = 0;
          pivots.broken = static_cast<double>(step + 2);
        } else {
          pivots.growth = fmax(pivots.growth, fabs(static_cast<double>(r)));
          last = fma(r, next, beta);
          pivots.take(last, step + 2);
        }
      }
      kept = static_cast<int>(threadIdx.x) == k ? r : kept;
      strip.update(r);
      strip.move_back(pairs - 1 - q * round_steps - k);
    }
    rho[q * round_steps + threadIdx.x] = kept;
    // The number that leaves after step k is u of pair pairs - 1 - k.
#pragma unroll
    for (int e = 0; e < own; ++e) {
      const int k = pairs - 1 - (static_cast<int>(threadIdx.x) * own + e);
      if (k / round_steps == q) edge[k] = strip.u[e];
    }
    if (q + 1 == own_rounds) {
      if (writes) tail[0] = static_cast<T>(pivots.broken);
      if (writes && has_steps) tail[1] = last;
      pivots.write();
    }
    chain.finish(round + q, mine);
  }
}

template <class T>
__global__ void __launch_bounds__(32) triangle_kernel(index_t rounds, index_t step, index_t end, const T* u, const T* v,
                                                      T* rho, T* edge, double* report, Chain chain) {
  __shared__ Round<T> round;
  const int mine = chain.take_place();
  const index_t before = index_t{mine} * pairs, first = before + static_cast<index_t>(threadIdx.x) * own;
  Strip<T> strip;
  strip.load(u + first, v + first);
  const index_t start = before / round_steps;
  for (index_t q = 0; q < start; ++q) {
    chain.wait(q, mine);
    round.run(strip, rho + q * round_steps, edge + q * round_steps);
    chain.finish(q, mine);
  }
  run_own(strip, step + before, end, rho + before, edge + before, rho + rounds * round_steps, report, chain, start,
          mine);
}

/// Computes the transfer polynomials of `pairs` steps in a warp, for all such parts of m steps.
template <class T>
__global__ void __launch_bounds__(32) transfer_kernel(const T* rho, T* a, T* c) {
  const index_t before = index_t{blockIdx.x} * pairs, lane = static_cast<index_t>(threadIdx.x);
  Strip<T> strip;
  T last = 0;
  for (int e = 0; e < own; ++e) strip.u[e] = 0, strip.v[e] = lane == 0 && e == 0 ? T(1) : T(0);
  for (int k = 0; k < pairs; ++k) {
    strip.update(rho[before + k]);
    last = strip.move(T(0));
  }
  // u(i) is c(i - 1); the last one has left.
  for (int e = 0; e < own; ++e) {
    const index_t i = lane * own + e;
    a[before + i] = strip.v[e];
    if (i > 0) c[before + i - 1] = strip.u[e];
  }
  if (lane == 31) c[before + pairs - 1] = last;
}

/// Clears a column that is not finite, in one block.
template <class T>
__global__ void clear_unless_finite_kernel(index_t n, T* x, double* report) {
  int fails = 0;
  for (index_t i = threadIdx.x; i < n; i += blockDim.x) fails |= finite(x[i]) ? 0 : 1;
  if (__syncthreads_or(fails) == 0) return;
  for (index_t i = threadIdx.x; i < n; i += blockDim.x) x[i] = T(0);
  if (threadIdx.x == 0) report[levinson_breakdown] = static_cast<double>(n);
}

/// Returns counters in work space, set to zero.
template <class T>
Chain new_chain(const CudaContext& context, T* work, index_t rounds) {
  auto* const counters = reinterpret_cast<int*>(work);
  context.check(static_cast<int>(
                    cudaMemsetAsync(counters, 0, static_cast<std::size_t>(rounds + 1) * sizeof(int), context.stream())),
                "the counters of a chain");
  return {counters, counters + 1};
}

}  // namespace

template <class T>
void SchurGenerator<T>::cuda(CudaContext& context, const Args& args, In<T> t, Out<T> generator) {
  toeplitz::Device{context}.each(generator.rows, 2,
                                 schur::Pairs<T>{t.data, t.rows, args.first, generator.data, generator.ld});
}

template <class T>
void SchurTriangle<T>::cuda(CudaContext& context, const Args& args, InOut<T> generator, Out<T> rho, Out<T> edge,
                            InOut<double> report, Scratch<T> work) {
  const index_t m = generator.rows, rounds = m / round_steps;
  const Chain chain = new_chain(context, work.data, rounds);
  triangle_kernel<<<static_cast<unsigned>(m / pairs), 32, 0, context.stream()>>>(
      rounds, args.first, args.first + args.count, generator.data, &generator(0, 1), rho.data, edge.data, report.data,
      chain);
}

template <class T>
void SchurApply<T>::cuda(CudaContext& context, const Args&, In<T> rho, InOut<T> generator, InOut<T> edge,
                         Scratch<T> work) {
  const index_t m = generator.rows, rounds = m / round_steps;
  const Chain chain = new_chain(context, work.data, rounds);
  apply_kernel<<<static_cast<unsigned>(m / pairs), 32, 0, context.stream()>>>(rounds, rho.data, generator.data,
                                                                              &generator(0, 1), edge.data, chain);
}

template <class T>
void SchurTransfer<T>::cuda(CudaContext& context, const Args&, In<T> rho, Out<T> transfer, Scratch<T> work) {
  toeplitz::Device device{context};
  const index_t m = transfer.rows;
  T *const a = transfer.data, *const c = &transfer(0, 1);
  transfer_kernel<<<static_cast<unsigned>(m / pairs), 32, 0, context.stream()>>>(rho.data, a, c);
  for (index_t part = pairs; part < m; part *= 2)
    schur::join<toeplitz::Device, T>(device, {a, c}, {a + part, c + part}, part, part, m / (2 * part), a, c, work.data);
}

template <class T>
void SchurJoin<T>::cuda(CudaContext& context, const Args&, In<T> first, In<T> second, Out<T> joined, Scratch<T> work) {
  toeplitz::Device device{context};
  schur::join<toeplitz::Device, T>(device, {first.data, &first(0, 1)}, {second.data, &second(0, 1)}, first.rows,
                                   second.rows, 1, joined.data, &joined(0, 1), work.data);
}

template <class T>
void SchurInverse<T>::cuda(CudaContext& context, const Args&, In<T> transfer, In<T> rho, Out<T> inverse,
                           InOut<double> report) {
  const index_t n = inverse.rows, m = rho.rows - 2;
  toeplitz::Device{context}.each(n, 1,
                                 schur::InverseColumn<T>{transfer.data, &transfer(0, 1), transfer.rows, rho.data + m,
                                                         rho.data + m + 1, inverse.data});
  clear_unless_finite_kernel<<<1, 512, 0, context.stream()>>>(n, inverse.data, report.data);
}

TESELA_CUDA_FOR_REALS(SchurGenerator, SchurTriangle, SchurApply, SchurTransfer, SchurJoin, SchurInverse)

}  // namespace tesela::kernels
