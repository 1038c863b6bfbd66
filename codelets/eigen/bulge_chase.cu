#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/codelets/eigen/internal/device_reflector.cuh>

#include <climits>

// A block of threads chases one sweep after another. It takes its sweep by a ticket when it begins, and waits, hop by
// hop, only for the sweep before: whoever waits does so for a block that runs, and there is no deadlock on a small GPU,
// or beside other work.

namespace tesela::kernels {
namespace {

/// Columns of one tile of the band or two neighbouring ones; of one if `whole`.
template <class T>
struct Band {
  T *first, *second;
  index_t first_ld, second_ld, split;
};

template <class T>
struct Launch {
  BulgePlan plan;
  index_t group, window;
  Band<T> band;
  const T* before;
  index_t before_ld;
  T* reflectors;
  index_t reflectors_ld;
  int* next_step;  // of each sweep of the group; behind them the next ticket
};

__device__ inline int load_acquire(const int* from) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline void store_release(int* to, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

/// A block of R x 4 threads: thread (i, q) keeps row i and the columns of quarter q of a block of at most R x R
/// elements.
template <class T, int R, bool whole>
struct Chase {
  static constexpr int quarters = 4, columns = R / quarters, per_lane = R / 32, threads = R * quarters;

  struct Shared {
    T d[R][R + 1];  // by columns
    T vectors[2][R], first[R], w[R];
    T partial[quarters][R];
    T dots[R / 32][R];
    T tau;
    int ticket;
  };

  /// A hop's place in the band: E in rows row … and columns left …, D in rows and columns row ….
  struct Place {
    index_t row, left;
    int rows;
    bool first;  // hop 0: E is one column
  };

  const Launch<T>& run;
  Shared& s;
  const int i = static_cast<int>(threadIdx.x) % R, q = static_cast<int>(threadIdx.x) / R,
            lane = static_cast<int>(threadIdx.x) % 32, b;

  __device__ Chase(const Launch<T>& launch, Shared& shared)
      : run(launch), s(shared), b(static_cast<int>(launch.plan.b)) {}

  /// B(row, column)
  __device__ T* at(index_t row, index_t column) const {
    const Band<T>& band = run.band;
    if (whole || column < band.split) return band.first + column * band.first_ld + row;
    return band.second + column * band.second_ld + row;
  }

  __device__ Place place(index_t sweep, index_t k) const {
    const index_t row = run.plan.row(sweep, k);
    return {row, k > 0 ? row - b : sweep, static_cast<int>(run.plan.length(sweep, k)), k == 0};
  }

  /// The sum of two vectors' products; every warp computes it.
  __device__ T dot(const T* a, const T* other) const {
    T sum = 0;
    for (int l = 0; l < per_lane; ++l) sum += a[lane + 32 * l] * other[lane + 32 * l];
    return warp_sum(sum);
  }

  /// One hop on its part of the band, which is the matrix's first sweep's if `untouched`. x is the reflector of the hop
  /// before, its factor `tau_before`; v, and the answer, become this one's.
  __device__ T hop(const Place& p, bool untouched, const T* x, T tau_before, T* v) const {
    T e[columns], d[columns];
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const int j = q * columns + c;
      // What no sweep has been at is zero.
      const bool zero = !p.first && (untouched ? i > j : p.rows == b && i == b - 1 && j < b - 1);
      e[c] = i < p.rows && j < (p.first ? 1 : b) && !zero ? __ldcg(at(p.row + i, p.left + j)) : T(0);
      d[c] = i < p.rows && j <= i ? __ldcg(at(p.row + i, p.row + j)) : T(0);
    }
    T y = 0;
    if (!p.first) {
#pragma unroll
      for (int c = 0; c < columns; ++c) y += e[c] * x[q * columns + c];
      s.partial[q][i] = y;
    }
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (const int j = q * columns + c; j <= i) s.d[j][i] = d[c];
    __syncthreads();
    if (!p.first) {
      y = 0;
      for (int part = 0; part < quarters; ++part) y += s.partial[part][i];
      y *= tau_before;
    }
    if (q == 0) s.first[i] = p.first ? e[0] : e[0] - y * x[0];
    __syncthreads();
    const DeviceReflector<T> reflector = make_reflector<T, R>(lane, p.rows, s.first);
    const T mine = i == 0 ? T(1) : i < p.rows ? reflector(s.first[i]) : T(0), tau = reflector.tau;
    if (q == 0) v[i] = mine;
    if (!p.first) {
#pragma unroll
      for (int c = 0; c < columns; ++c) e[c] -= y * x[q * columns + c];
      column_sums(e, mine);
    }
#pragma unroll
    for (int c = 0; c < columns; ++c)  // D in full
      if (const int j = q * columns + c; j > i) d[c] = j < p.rows ? s.d[i][j] : T(0);
    __syncthreads();
    T w = 0;
#pragma unroll
    for (int c = 0; c < columns; ++c) w += d[c] * v[q * columns + c];
    s.partial[q][i] = w;
    if (!p.first) {
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        const int j = q * columns + c;
        T sum = 0;
        for (int part = 0; part < per_lane; ++part) sum += s.dots[part][j];
        e[c] -= mine * tau * sum;
        if (i < p.rows && j < b && (j > 0 || i == 0)) __stcg(at(p.row + i, p.left + j), j > 0 ? e[c] : reflector.beta);
      }
    } else if (threadIdx.x == 0) {
      __stcg(at(p.row, p.left), reflector.beta);
    }
    __syncthreads();
    w = 0;
    for (int part = 0; part < quarters; ++part) w += s.partial[part][i];
    if (q == 0) s.w[i] = w;
    __syncthreads();
    const T shift = T(-0.5) * tau * tau * dot(s.w, v);
    w = tau * w + shift * mine;
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const int j = q * columns + c;
      d[c] -= mine * (tau * s.w[j] + shift * v[j]) + w * v[j];
      if (i < p.rows && j <= i) __stcg(at(p.row + i, p.row + j), d[c]);
    }
    return tau;
  }

  /// A lane keeps `half` of its sums, and adds to them what the lane `bit` away has of these.
  template <int half, int bit>
  __device__ void exchange(T (&part)[columns], int& mine) const {
    const bool upper = (lane & bit) != 0;
#pragma unroll
    for (int c = 0; c < half; ++c) {
      const T sent = upper ? part[c] : part[c + half], kept = upper ? part[c + half] : part[c];
      part[c] = kept + __shfl_xor_sync(0xffffffffu, sent, bit);
    }
    if (upper) mine += half;
    if constexpr (half > 1) exchange<half / 2, bit / 2>(part, mine);
  }

  /// s.dots: the sums of e[c] times `factor` over the rows of each warp. Lanes exchange halves of what they have until
  /// each has the sum of one column.
  __device__ void column_sums(const T (&e)[columns], T factor) const {
    T part[columns];
#pragma unroll
    for (int c = 0; c < columns; ++c) part[c] = e[c] * factor;
    int mine = 0;
    exchange<columns / 2, 16>(part, mine);
    for (int bit = 16 / columns; bit > 0; bit /= 2) part[0] += __shfl_xor_sync(0xffffffffu, part[0], bit);
    if (lane % (32 / columns) == 0) s.dots[i / 32][q * columns + mine] = part[0];
  }

  __device__ void chase() const {
    const BulgePlan& plan = run.plan;
    const auto first = static_cast<int>(plan.first_step(run.group, run.window)),
               end = static_cast<int>(plan.end_step(run.group, run.window));
    const int sweeps = static_cast<int>(plan.size(run.group));
    for (;;) {
      if (threadIdx.x == 0) s.ticket = atomicAdd(run.next_step + sweeps, 1);
      __syncthreads();
      const int t = s.ticket;
      if (t >= sweeps) return;
      chase_sweep(t, first, end);
      if (threadIdx.x == 0) store_release(run.next_step + t, INT_MAX);
    }
  }

  __device__ void chase_sweep(int t, int first, int end) const {
    const BulgePlan& plan = run.plan;
    const index_t sweep = plan.first_sweep(run.group) + t;
    const int begin = max(first, t), stop = min(end, static_cast<int>(plan.last_hop(sweep)) + t + 1);
    const index_t slot = plan.slot(run.group, run.window, t, first),
                  per_step = plan.slot(run.group, run.window, t, first + 1) - slot;
    T *x = s.vectors[0], *v = s.vectors[1], tau = 0;
    if (first > t && q == 0) {  // the group's task before has begun this sweep
      const T* const from = run.before + plan.slot(run.group, run.window - 1, t, first - 1) * run.before_ld;
      x[i] = i < b ? from[i] : T(0);
      if (i == 0) s.tau = from[b];
    }
    __syncthreads();
    if (first > t) tau = s.tau;
    for (int h = begin; h < stop; ++h) {
      if (threadIdx.x == 0 && t > 0)
        while (load_acquire(run.next_step + t - 1) <= h) {
        }
      __syncthreads();
      tau = hop(place(sweep, h - t), sweep == 0, x, tau, v);
      __syncthreads();
      if (threadIdx.x == 0) store_release(run.next_step + t, h + 1);  // of what all threads wrote before
      T* const to = run.reflectors + (slot + (h - first) * per_step) * run.reflectors_ld;
      if (q == 0) {
        if (i < b) to[i] = v[i];
        if (i == 0) to[b] = tau;
      }
      T* const used = x;
      x = v;
      v = used;
    }
  }
};

template <class T, int R, bool whole>
__global__ void __launch_bounds__(Chase<T, R, whole>::threads) chase_kernel(Launch<T> launch) {
  extern __shared__ double memory[];
  Chase<T, R, whole>(launch, *reinterpret_cast<typename Chase<T, R, whole>::Shared*>(memory)).chase();
}

template <class T, int R, bool whole>
void launch_chase(CudaContext& context, const Launch<T>& run, int sweeps) {
  constexpr int bytes = sizeof(typename Chase<T, R, whole>::Shared), threads = Chase<T, R, whole>::threads;
  static const int blocks = [] {
    int device = 0, processors = 1, each = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, chase_kernel<T, R, whole>, threads, bytes);
    return processors * std::max(each, 1);
  }();
  chase_kernel<T, R, whole><<<static_cast<unsigned>(std::min(blocks, sweeps)), threads, bytes, context.stream()>>>(run);
}

}  // namespace

template <class T>
void ChaseBulges<T>::cuda(CudaContext& context, const Args& args, In<T> before, Out<T> reflectors, Scratch<T> work,
                          std::span<const InOut<T>> band) {
  const BulgePlan& plan = args.plan;
  const auto sweeps = static_cast<int>(plan.size(args.group));
  if (plan.b > largest_gpu_half_width || sweeps <= 0) {
    if (sweeps > 0) context.check(cudaErrorInvalidValue, "chase_bulges of so wide a band");
    return;
  }
  const auto tile = [](const InOut<T>& one, index_t column) { return one.data - column * one.ld; };
  const index_t split = args.column + band.front().cols;
  auto* const next_step = reinterpret_cast<int*>(work.data);
  const Launch<T> run{plan,
                      args.group,
                      args.window,
                      {tile(band.front(), args.column), tile(band.back(), band.size() > 1 ? split : args.column),
                       band.front().ld - 1, band.back().ld - 1, split},
                      before.data,
                      before.ld,
                      reflectors.data,
                      reflectors.ld,
                      next_step};
  context.check(cudaMemsetAsync(next_step, 0, static_cast<std::size_t>(sweeps + 1) * sizeof(int), context.stream()),
                "cudaMemset");
  const bool whole = band.size() == 1;
  if (plan.b <= 32)
    whole ? launch_chase<T, 32, true>(context, run, sweeps) : launch_chase<T, 32, false>(context, run, sweeps);
  else
    whole ? launch_chase<T, 64, true>(context, run, sweeps) : launch_chase<T, 64, false>(context, run, sweeps);
  context.check(cudaGetLastError(), "chase_bulges");
}

template decltype(ChaseBulges<float>::cuda) ChaseBulges<float>::cuda;
template decltype(ChaseBulges<double>::cuda) ChaseBulges<double>::cuda;

}  // namespace tesela::kernels
