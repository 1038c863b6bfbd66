#pragma once

#include <tesela/codelets/mimo/internal/device_warp.cuh>
#include <tesela/codelets/mimo/internal/lane_channel_body.hpp>
#include <tesela/codelets/mimo/internal/quick_search_body.hpp>
#include <tesela/codelets/mimo/internal/shared_search.cuh>

// Searches on a GPU in real form, without limits: channels by groups of lanes, signals by lanes for some steps; those
// that are not done then have their columns ordered once more, each by its own y, which makes most trees small.
// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr int prepare_threads = 128;

/// Factors of `count` lanes; or, `again`, of the signals that lanes left, each in an order of its own.
template <int S, class T>
__global__ void __launch_bounds__(prepare_threads)
    prepare_by_groups(Lanes<T> all, OrderChoice choice, index_t count, bool again) {
  DeviceWarp warp;
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

/// Where pivots are nearly zero.
template <class T>
__device__ __noinline__ void search_alone(const Lanes<T>& all, index_t k, const SearchLimits& limits) {
  constexpr int budget = 2048;  // steps that are ten times as long as quick ones
  LaneSearch<T> one;
  const ChannelView<T> view = all.channel(k / all.coherence);
  const Reception reception = all.facts[k].reception;
  begin_search(all, k, view, limits, one);
  one.nodes = all.reports[k * all.ld_reports].nodes;
  bool busy = true;
  for (int steps = 0; busy && !(steps >= budget && one.found.any); ++steps)
    busy = one.step(view, all.y + k * all.ld_y, reception, limits);
  if (busy)
    leave_to_warps(all, k, static_cast<double>(one.radius), one.nodes);
  else
    all.reports[k * all.ld_reports] = one.end(view, reception, all.labels + k * all.ld_labels);
}

/// A signal a lane, for `budget` steps: all signals, or `again` those that were left. The lanes of a warp begin and end
/// together.
template <class T>
__global__ void __launch_bounds__(warp_lanes)
    search_quickly(Lanes<T> all, SearchLimits limits, int budget, bool again) {
  extern __shared__ __align__(16) unsigned char room[];
  DeviceWarp warp;
  const int m = static_cast<int>(all.rows()), n = static_cast<int>(all.cols()), own = static_cast<int>(threadIdx.x);
  T* const numbers = reinterpret_cast<T*>(room);
  int* const integers = reinterpret_cast<int*>(numbers + quick_numbers(n) * warp_lanes);
  const index_t count = again ? all.facts[0].hards : all.signals;
  for (index_t first = static_cast<index_t>(blockIdx.x) * warp_lanes; first < count;
       first += static_cast<index_t>(gridDim.x) * warp_lanes) {
    const bool there = first + own < count;
    const index_t k = !there ? 0 : again ? all.facts[first + own].hard : first + own;
    const index_t lane = all.lane_of(k);
    const ChannelView<T> view = all.channel(k / all.coherence);
    const Complex<T>* const y = all.y + k * all.ld_y;
    const OrderOf order = all.order(lane);
    Reception reception;
    const auto exactly = [&](std::uint64_t path, int* labels) {
      return distance_of_path(view, order, n, y, reception.exponent, path, labels);
    };
    QuickSearch<T, warp_lanes> one(n, numbers + own, integers + own);
    bool usable = false;
    if (there) {
      reception = receive<T>(view, all.facts[lane].channel, y, all.z(k), [&](const Interleaved<T>& x) {
        apply_adjoint(all.rows(), all.cols(), all.at(lane, 0), all.at(lane, all.rows() * all.cols()), x);
      });
      all.facts[k].reception = reception;
      usable = one.begin(view, all.facts[lane].channel, m, all.at(lane, 0), order, all.z(k), reception,
                         again ? all.facts[k].radius : 0);
    }
    bool busy = usable;
    for (int steps = 0; steps < budget && warp.any(busy); ++steps)
      if (busy) busy = one.step(exactly);
    if (!there) continue;
    SearchReport& report = all.reports[k * all.ld_reports];
    const long long before = again ? report.nodes : 0;
    if (usable && !busy && one.found.any) {
      report = one.end(reception.exponent, exactly, all.labels + k * all.ld_labels);
      report.nodes += before;
    } else if (!again) {
      report.nodes = usable ? one.nodes : 0;
      all.facts[k].radius = usable && one.found.any ? static_cast<double>(one.radius) : 0;
      all.facts[atomicAdd(&all.facts[0].hards, 1)].hard = static_cast<int>(k);
    } else if (usable && busy && one.found.any) {
      leave_to_warps(all, k, static_cast<double>(one.radius), before + one.nodes);
    } else {
      search_alone(all, k, limits);
    }
  }
}

}  // namespace tesela::kernels::mimo
