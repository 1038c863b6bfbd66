#pragma once

#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/orders_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/shared_memory_search_body.hpp>
#include <tesela/codelets/mimo/internal/warp_search.cuh>

// Searches on a GPU in real form, without limits: channels by groups of lanes, signals by lanes for some steps. The
// columns of unfinished signals are then reordered, each by its own y, which makes most trees small. Internal to
// codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr int prepare_threads = 128;

/// Prepares factors of `count` lanes; or, `again`, of the signals that lanes left, each with its own order.
template <int S, class T>
__global__ void __launch_bounds__(prepare_threads)
    prepare_by_groups(Lanes<T> all, OrderChoice choice, index_t count, bool again) {
  DeviceWarp warp;
  if (all.refused()) return;
  const index_t thread = static_cast<index_t>(blockIdx.x) * prepare_threads + threadIdx.x;
  if (again)
    count = all.facts[0].hards;
  else if (thread == 0)
    clear_counters(all.facts[0], 0);
  const index_t m = all.rows(), n = all.cols(), step = static_cast<index_t>(gridDim.x) * (prepare_threads / S);
  for (index_t g = thread / S; g - warp.lane() / S < count; g += step) {
    const bool there = g < count;
    const index_t lane = !there ? 0 : again ? all.facts[g].hard : g;
    const index_t channel = all.of_signals ? lane / all.coherence : lane;
    lane_channel<S>(warp, there, all.channel(channel), choice.kind, choice.n0, all.y + lane * all.ld_y, all.at(lane, 0),
                    all.at(lane, m * n), all.order(lane), &all.facts[lane].channel);
  }
}

/// Searches a signal whose pivots are nearly zero.
template <class T>
__device__ __noinline__ void search_in_lane(const Lanes<T>& all, index_t k, const SearchLimits& limits) {
  constexpr int budget = 2048;  // steps that are ten times as long as quick steps
  LaneSearch<T> one;
  const ChannelView<T> view = all.channel(k / all.coherence);
  const Reception reception = all.facts[k].reception;
  begin_search(all, k, view, limits, one);
  one.nodes = all.reports[k * all.ld_reports].nodes;
  bool busy = true;
  for (int steps = 0; busy && !(steps >= budget && one.found.any && limits.max_nodes == 0); ++steps)
    busy = one.step(view, all.y + k * all.ld_y, reception, limits);
  if (busy)
    defer_to_warps(all, k, static_cast<double>(one.radius), one.nodes);
  else
    all.reports[k * all.ld_reports] = one.end(view, reception, all.labels + k * all.ld_labels);
}

/// A signal of a quick search, separate from the search so that it stays in registers.
template <class T>
struct SharedMemorySignal {
  using Search = SharedMemorySearch<T, warp_lanes>;
  const Lanes<T>& all;
  index_t k, lane;
  ChannelView<T> view;
  Reception reception;

  __device__ __forceinline__ SharedMemorySignal(const Lanes<T>& lanes, index_t signal)
      : all(lanes), k(signal), lane(lanes.lane_of(signal)), view(lanes.channel(signal / lanes.coherence)) {}
  __device__ __forceinline__ const Complex<T>* y() const { return all.y + k * all.ld_y; }
  __device__ __forceinline__ SearchReport& report() const { return all.reports[k * all.ld_reports]; }
  __device__ __forceinline__ double operator()(std::uint64_t path, int* labels) const {
    return distance_of_path(view, all.order(lane), static_cast<int>(all.cols()), y(), reception.exponent, path, labels);
  }
  __device__ __forceinline__ void receive_signal() {
    reception = receive<T>(view, all.facts[lane].channel, y(), all.z(k), [&](const Interleaved<T>& x) {
      apply_adjoint(all.rows(), all.cols(), all.at(lane, 0), all.at(lane, all.rows() * all.cols()), x);
    });
    all.facts[k].reception = reception;
  }
  /// Starts a search; within: square radius of a sphere that is known to contain a point, or 0. Returns false if pivots
  /// are too small.
  __device__ __forceinline__ bool begin(Search& one, double within) const {
    return one.begin(view, all.facts[lane].channel, static_cast<int>(all.rows()), all.at(lane, 0), all.order(lane),
                     all.z(k), reception, within);
  }
  /// Writes the nearest known vector to the report: the earlier one (`known`) or this search's.
  __device__ __forceinline__ void keep(const Search& one, bool known, long long nodes, int flags) const {
    SearchReport& kept = report();
    if (one.found.any) {
      int labels[most_quick_columns / 2];
      const SearchReport found = one.end(reception.exponent, *this, labels);
      if (!known || found.distance < kept.distance) {
        kept = found;
        for (index_t j = 0; j < view.streams; ++j) all.labels[k * all.ld_labels + j] = labels[j];
      }
    }
    kept.nodes = nodes;
    kept.flags |= flags;
  }
};

/// Searches one signal per lane for `budget` steps: all signals, or, `again`, the unfinished ones. The lanes of a warp
/// start and end together. The report of an unfinished signal has its nearest point up to then.
template <class T>
__global__ void __launch_bounds__(warp_lanes)
    search_by_lanes(Lanes<T> all, SearchLimits limits, int budget, bool again) {
  if (all.refused()) return;
  extern __shared__ __align__(16) unsigned char room[];
  DeviceWarp warp;
  const int n = static_cast<int>(all.cols()), own = static_cast<int>(threadIdx.x);
  T* const numbers = reinterpret_cast<T*>(room);
  int* const integers = reinterpret_cast<int*>(numbers + numbers_per_lane(n) * warp_lanes);
  const index_t count = again ? all.facts[0].hards : all.signals;
  for (index_t first = static_cast<index_t>(blockIdx.x) * warp_lanes; first < count;
       first += static_cast<index_t>(gridDim.x) * warp_lanes) {
    const bool there = first + own < count;
    const index_t k = !there ? 0 : again ? all.facts[first + own].hard : first + own;
    SharedMemorySignal<T> signal(all, k);
    SharedMemorySearch<T, warp_lanes> one(n, numbers + own, integers + own);
    const double within = there && again ? all.facts[k].radius : 0;
    const long long before = there && again ? signal.report().nodes : 0, left = limits.max_nodes - before;
    bool usable = false;
    if (there) {
      signal.receive_signal();
      usable = signal.begin(one, within);
    }
    // A result of an earlier search suffices to end.
    const auto bounded = [&] { return limits.max_nodes > 0 && one.nodes >= left && (one.found.any || within > 0); };
    bool busy = usable && !bounded(), known = false;
    for (int steps = 0; steps < budget && warp.any(busy); ++steps)
      if (busy) {
        known = !one.step(signal);
        busy = !known && !bounded();
      }
    if (!there) continue;
    const bool done = known && one.found.any, end = usable && !known && bounded();
    if (done || end) {
      signal.keep(one, within > 0 && end, before + one.nodes, end ? SearchReport::uncertified : 0);
    } else if (!again) {
      signal.report().nodes = 0;
      if (usable) signal.keep(one, false, one.nodes, 0);
      all.facts[k].radius = usable && one.found.any ? static_cast<double>(one.radius) : 0;
      all.facts[atomicAdd(&all.facts[0].hards, 1)].hard = static_cast<int>(k);
    } else if (usable && !known && (one.found.any || within > 0)) {
      signal.keep(one, within > 0, before + one.nodes, 0);
      all.facts[k].radius = static_cast<double>(one.radius);
      all.facts[atomicAdd(&all.facts[0].joints, 1)].joint = static_cast<int>(k);
    } else {
      search_in_lane(all, k, limits);
    }
  }
}

/// Searches the signals that lanes left, with one warp per block. The paths of the last levels are counted, and a lane
/// that is done starts the next path; all use the smallest sphere that any of them knows.
template <class T>
__global__ void __launch_bounds__(warp_lanes) search_path_list(Lanes<T> all, SearchLimits limits) {
  if (all.refused()) return;
  extern __shared__ __align__(16) unsigned char room[];
  constexpr int most_labels = most_quick_columns / 2, enough = 8 * warp_lanes;
  __shared__ unsigned long long radius;
  __shared__ int path, best[warp_lanes][most_labels];
  __shared__ bool found[warp_lanes], tied[warp_lanes];
  __shared__ double distances[warp_lanes];
  DeviceWarp warp;
  const int n = static_cast<int>(all.cols()), own = static_cast<int>(threadIdx.x);
  T* const numbers = reinterpret_cast<T*>(room);
  int* const integers = reinterpret_cast<int*>(numbers + numbers_per_lane(n) * warp_lanes);
  for (;;) {
    const int h = warp.from(own == 0 ? atomicAdd(&all.facts[0].joints_taken, 1) : 0, 0);
    if (h >= all.facts[0].joints) return;
    const index_t k = all.facts[h].joint;
    SharedMemorySignal<T> signal(all, k);
    SharedMemorySearch<T, warp_lanes> one(n, numbers + own, integers + own);
    signal.reception = all.facts[k].reception;
    signal.begin(one, all.facts[k].radius);
    const long long before = signal.report().nodes, left = (limits.max_nodes - before) / warp_lanes;
    int until = n, paths = 1;
    for (; until > 1 && paths < enough; paths *= one.next[until] >> 16) --until;
    if (own == 0) path = 0, radius = static_cast<unsigned long long>(__double_as_longlong(all.facts[k].radius));
    warp.sync();
    bool busy = false, more = true, stopped = false;
    for (int steps = 0; warp.any(busy || more); ++steps) {
      if (steps % 8 == 0 || !busy) {
        const T known = static_cast<T>(lower(&radius, 1.7e308));
        one.radius = known < one.radius ? known : one.radius;
      }
      if (limits.max_nodes > 0 && one.nodes >= left) stopped = stopped || busy || more, busy = more = false;
      if (busy) {
        const T present = one.radius;
        busy = one.step(signal);
        if (one.radius < present) lower(&radius, static_cast<double>(one.radius));
      } else if (more) {
        const int number = atomicAdd(&path, 1);
        more = number < paths;
        busy = more && one.descend(until, number);
      }
    }
    found[own] = one.found.any, tied[own] = one.found.tie;
    if (one.found.any) {
      const double known = signal(one.best, best[own]);
      distances[own] = one.exact ? one.found.distance : known;
    }
    const bool uncertified = warp.any(stopped);
    long long nodes = one.nodes;
    for (int d = 1; d < warp_lanes; d *= 2) nodes += warp.from(nodes, own ^ d);
    warp.sync();
    if (own == 0) {
      SearchReport& kept = signal.report();
      Found all_found;
      int nearest[most_labels];
      for (int other = 0; other < warp_lanes; ++other)
        merge_best(all_found, {found[other], tied[other], distances[other]}, one.tie, signal.view.streams, best[other],
                   nearest);
      const double distance = std::ldexp(all_found.distance, signal.reception.exponent);
      if (all_found.any && !(uncertified && kept.distance <= distance)) {
        kept.distance = distance;
        kept.flags = all_found.tie ? SearchReport::tie : 0;
        for (index_t j = 0; j < signal.view.streams; ++j) all.labels[k * all.ld_labels + j] = nearest[j];
      }
      kept.nodes = before + nodes;
      if (uncertified) kept.flags |= SearchReport::uncertified;
      if (!all_found.any && !uncertified) defer_to_warps(all, k, sizeof(T) == 4 ? 1e38 : 1e300, before + nodes);
    }
    warp.sync();
  }
}

}  // namespace tesela::kernels::mimo
