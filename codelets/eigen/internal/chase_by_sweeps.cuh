#pragma once

#include <tesela/codelets/eigen/internal/bulge_hop.cuh>
#include <tesela/codelets/eigen/internal/chase_launch.cuh>

#include <climits>

#include <type_traits>

// Bulges chased by thread blocks that each follow a sweep down the band. Internal to codelets/eigen.

namespace tesela::kernels {

/// CUDA's type of two numbers.
template <class R>
using CudaPair = std::conditional_t<sizeof(R) == 8, double2, float2>;

__device__ inline int load_acquire(const int* from) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline void store_release(int* to, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

/// Load and store in the cache that all multiprocessors share.
template <class T>
__device__ inline T load_past_l1(const T* from) {
  if constexpr (is_complex<T>) {
    const auto pair = __ldcg(reinterpret_cast<const CudaPair<real_t<T>>*>(from));
    return {pair.x, pair.y};
  } else {
    return __ldcg(from);
  }
}
template <class T>
__device__ inline void store_past_l1(T* to, T x) {
  if constexpr (is_complex<T>)
    __stcg(reinterpret_cast<CudaPair<real_t<T>>*>(to), CudaPair<real_t<T>>{x.re, x.im});
  else
    __stcg(to, x);
}

/// Chases one sweep per thread block, which draws a ticket when it begins and waits, hop by hop, only for the previous
/// sweep. A waiting block thus waits for a running block, so there is no deadlock on a small GPU or next to other work.
/// E and D are loaded from the band for every hop and stored again.
template <class T, int R, bool whole, BandKind kind>
struct ChaseBySweeps {
  using Hop = BulgeHop<T, R>;
  using Real = real_t<T>;
  using Tile = typename Hop::Tile;
  static constexpr int tile = Hop::tile, threads = Hop::threads, step = threads / R, each = R / step;
  static constexpr bool upper = kind == BandKind::upper;

  /// Factors of the reflector for the next hop and, for an upper band, of the other one.
  struct Taus {
    T next = 0, other = 0;
  };

  struct alignas(16) Shared {
    typename Hop::Shared hop;
    T vectors[2][R], other[R];
    T block[R][R + 1];  // by columns, in places
    T tau;
    int ticket;
  };

  const ChaseLaunch<T>& run;
  Shared& s;
  const Hop core;
  int* const next_step;  // of each sweep of the group; then the next ticket
  const int thread = core.thread, i = core.i, q = core.q, b;

  __device__ ChaseBySweeps(const ChaseLaunch<T>& launch, Shared& shared)
      : run(launch),
        s(shared),
        core(shared.hop),
        next_step(static_cast<int*>(launch.messages)),
        b(static_cast<int>(launch.plan.b)) {}

  __device__ T load_from_band(index_t row, index_t column) const {
    const T x = load_past_l1(run.band.template at<whole, kind>(row, column));
    return upper ? conj(x) : x;
  }
  __device__ void store_to_band(index_t row, index_t column, T x) const {
    store_past_l1(run.band.template at<whole, kind>(row, column), upper ? conj(x) : x);
  }
  __device__ int offset(int place, int pivot) const { return place >= pivot ? place - pivot : place - pivot + b; }
  __device__ int place(int offset, int pivot) const { return offset + pivot < b ? offset + pivot : offset + pivot - b; }

  /// Performs one hop on its part of the band. x and `tau_before` are the reflector of the previous hop; `to_next` is
  /// the reflector for the next hop. For an upper band, s.other is the reflector of E.
  __device__ Taus hop(const HopPosition& p, bool first_sweep, int pivot, const T* x, T tau_before, T* to_next) const {
    Tile e, d;
    load(e, d, p, first_sweep, pivot);
    T first = i < b ? s.hop.c[i] : T(0);
    if (!p.first) {
      T across_x[tile];
      core.load_columns(across_x, x);
      const T y = rounded_product(tau_before, core.row_times(e, across_x));
      if (q == 0) s.hop.y[i] = y;
      first -= y;
    }
    const DeviceReflector<T> reflector = core.reflector(first, pivot);
    const T mine = i == pivot ? T(1) : i < b ? reflector(first) : T(0);
    T* const v = upper ? s.other : to_next;
    if (q == 0) v[i] = mine;
    __syncthreads();
    if constexpr (upper) {
      const DeviceReflector<T> of_d = core.reflect_both(e, d, !p.first, x, v, reflector.tau, to_next, pivot, b,
                                                        [](const DeviceReflector<T>&, T) {});
      store(e, d, p, pivot, reflector.beta, of_d.beta);
      return {of_d.tau, reflector.tau};
    } else {
      core.reflect(e, d, !p.first, x, v, mine, reflector.tau);
      store(e, d, p, pivot, reflector.beta, Real(0));
      return {reflector.tau, T(0)};
    }
  }

  /// Calls f(c, row, column) for the thread's elements of a block. Neighbouring threads have neighbours in a column of
  /// the band.
  template <class F>
  __device__ void each_element(const F& f) const {
#pragma unroll
    for (int c = 0; c < each; ++c) {
      const int along = thread % R, across = thread / R + step * c;
      upper ? f(c, across, along) : f(c, along, across);
    }
  }

  /// Loads E, its first column to s.hop.c, and D.
  __device__ void load(Tile& e, Tile& d, const HopPosition& p, bool first_sweep, int pivot) const {
    T from_e[each], from_d[each];
    each_element([&](int c, int row, int j) {
      const bool inside = row < p.rows && j < b;
      from_e[c] = inside && !p.is_zero(row, j, b, first_sweep) ? load_from_band(p.row + row, p.left + j) : T(0);
      const bool held = upper ? j < p.rows && !p.is_zero_of_d(row, j, b, first_sweep) : j <= row;
      from_d[c] = inside && held ? load_from_band(p.row + row, p.row + j) : T(0);
    });
    each_element([&](int c, int row, int j) {
      if (row >= b || j >= b) return;
      s.block[place(j, pivot)][place(row, pivot)] = from_e[c];
      if (j == 0) s.hop.c[place(row, pivot)] = from_e[c];
    });
    __syncthreads();
    take(e);
    __syncthreads();
    each_element([&](int c, int row, int j) {
      if (row >= b || j >= b || (!upper && j > row)) return;
      s.block[place(j, pivot)][place(row, pivot)] = from_d[c];
      if constexpr (!upper) s.block[place(row, pivot)][place(j, pivot)] = conj(from_d[c]);
    });
    __syncthreads();
    take(d);
  }
  __device__ void take(Tile& a) const {
#pragma unroll
    for (int c = 0; c < tile; ++c)
#pragma unroll
      for (int r = 0; r < tile; ++r)
        a[r][c] = core.column(c) < b && core.row + r < b ? s.block[core.column(c)][core.row + r] : T(0);
  }
  __device__ void give(const Tile& a) const {
#pragma unroll
    for (int c = 0; c < tile; ++c)
#pragma unroll
      for (int r = 0; r < tile; ++r) s.block[core.column(c)][core.row + r] = a[r][c];
  }

  __device__ void store(const Tile& e, const Tile& d, const HopPosition& p, int pivot, Real beta,
                        Real beta_of_d) const {
    if (!p.first) {
      give(e);
      __syncthreads();
      each_element([&](int, int row, int j) {
        if (j > 0 && j < b && row < p.rows)
          store_to_band(p.row + row, p.left + j, s.block[place(j, pivot)][place(row, pivot)]);
      });
      __syncthreads();
    }
    if (thread == 0) {
      store_to_band(p.row, p.left, T(beta));
      if constexpr (upper) store_to_band(p.row, p.row, T(beta_of_d));
    }
    give(d);
    __syncthreads();
    each_element([&](int, int row, int j) {
      if (row < p.rows && (upper ? row > 0 && j < p.rows : j <= row))
        store_to_band(p.row + row, p.row + j, s.block[place(j, pivot)][place(row, pivot)]);
    });
  }

  __device__ void chase() const {
    const BulgePlan& plan = run.plan;
    const auto first = static_cast<int>(plan.first_step(run.group, run.window)),
               end = static_cast<int>(plan.end_step(run.group, run.window));
    const int sweeps = static_cast<int>(plan.size(run.group));
    for (;;) {
      if (thread == 0) s.ticket = atomicAdd(next_step + sweeps, 1);
      __syncthreads();
      const int t = s.ticket;
      if (t >= sweeps) return;
      chase_sweep(t, first, end);
      if (thread == 0) store_release(next_step + t, INT_MAX);
    }
  }

  __device__ void write(T* to, int row, const T* vector, T tau) const {
    if (thread < b) to[row] = vector[thread];
    if (thread == 0) to[b] = tau;
  }

  __device__ void chase_sweep(int t, int first, int end) const {
    const BulgePlan& plan = run.plan;
    const index_t sweep = plan.first_sweep(run.group) + t;
    const int begin = max(first, t), stop = min(end, static_cast<int>(plan.last_hop(sweep)) + t + 1);
    const int pivot = static_cast<int>(sweep % b), row = offset(thread, pivot);
    const index_t slot = plan.slot(run.group, run.window, t, first),
                  per_step = plan.slot(run.group, run.window, t, first + 1) - slot;
    T *x = s.vectors[0], *v = s.vectors[1];
    Taus tau;
    if (first > t && thread < R) {  // the group's previous task has started this sweep
      const T* const from = run.before + plan.slot(run.group, run.window - 1, t, first - 1) * run.before_ld;
      x[thread] = thread < b ? from[row] : T(0);
      if (thread == 0) s.tau = from[b];
    }
    __syncthreads();
    if (first > t) tau.next = s.tau;
    for (int h = begin; h < stop; ++h) {
      if (thread == 0 && t > 0)
        while (load_acquire(next_step + t - 1) <= h) {
        }
      __syncthreads();
      tau = hop(HopPosition(plan, sweep, h - t), sweep == 0, pivot, x, tau.next, v);
      __syncthreads();
      if (thread == 0) store_release(next_step + t, h + 1);  // includes all threads' earlier writes
      const index_t at = slot + (h - first) * per_step;
      write(run.reflectors + at * run.reflectors_ld, row, v, tau.next);
      if constexpr (upper) write(run.others + at * run.others_ld, row, s.other, tau.other);
      T* const used = x;
      x = v;
      v = used;
    }
  }
};

}  // namespace tesela::kernels
