#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>

// Searches on a GPU: a lane that is done starts the next signal, and a warp shares the tree of a hard signal. Internal
// to codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr int search_threads = 64;

/// Data of a lane in addition to its numbers. The first lane's counters are common to all.
struct LaneState {
  ChannelFacts channel;  // of lanes that are channels
  Reception reception;   // of lanes that are signals
  double radius;         // of a hard signal's sphere, squared
  // The k-th signal that a lane left, and the k-th left to a warp: to its lanes' quick searches, or to general
  // searches.
  int hard, joint, harder;
  int hards, joints, harders;     // their numbers
  int next, joints_taken, taken;  // signals started by lanes, and hard signals started by warps
};
static_assert(sizeof(LaneState) == 88);  // SphereSearch::work_size relies on it

__device__ inline void clear_counters(LaneState& first, int next) {
  first.next = next, first.taken = 0, first.joints_taken = 0, first.hards = 0, first.joints = 0, first.harders = 0;
}

/// Data of all kernels. A lane is a channel, or a signal if the order depends on the signal; the numbers of all lanes
/// are interleaved in the scratch.
template <class F>
struct Lanes {
  using T = real_t<F>;
  ChannelView<T> view;  // of the first channel
  const Complex<T>* y;
  index_t ld_y, signals, coherence;
  int* labels;
  index_t ld_labels;
  SearchReport* reports;
  index_t ld_reports;
  LaneState* facts;
  F* numbers;
  int* places;
  index_t lanes;
  bool of_signals;

  /// Returns whether the batch is refused; every kernel tests it first, because a search among numbers that are not
  /// finite may never end.
  __device__ bool refused() const { return batch_not_finite(reports); }
  TESELA_BOTH index_t rows() const { return view.template rows<F>(); }
  TESELA_BOTH index_t cols() const { return view.template cols<F>(); }
  __device__ Interleaved<F> at(index_t lane, index_t number) const { return {numbers + number * lanes + lane, lanes}; }
  __device__ Interleaved<F> z(index_t k) const { return at(k, rows() * cols() + cols()); }
  __device__ OrderOf order(index_t lane) const { return {places + lane, lanes}; }
  __device__ index_t lane_of(index_t k) const { return of_signals ? k : k / coherence; }
  __device__ ChannelView<T> channel(index_t c) const {
    ChannelView<T> one = view;
    one.h += c * view.streams * view.ld;
    return one;
  }
};

template <class F>
using LaneSearch = Search<F, Interleaved<F>, ChannelView<real_t<F>>>;

template <class F>
__device__ void begin_search(const Lanes<F>& all, index_t k, const ChannelView<real_t<F>>& view,
                             const SearchLimits& limits, LaneSearch<F>& one) {
  const index_t lane = all.lane_of(k);
  one.begin(view, all.facts[lane].channel, all.rows(), all.at(lane, 0), all.order(lane), all.z(k),
            all.facts[k].reception, limits);
}

/// Prepares factors of lanes, and counters.
template <class F>
__global__ void __launch_bounds__(search_threads) prepare(Lanes<F> all, OrderChoice choice, index_t count, int lanes) {
  const index_t lane = static_cast<index_t>(blockIdx.x) * search_threads + threadIdx.x;
  if (lane == 0) clear_counters(all.facts[0], lanes);
  if (lane >= count || all.refused()) return;
  const index_t m = all.rows(), n = all.cols();
  const auto a = all.at(lane, 0), tau = all.at(lane, m * n), work = all.at(lane, m * n + n + m);
  all.facts[lane].channel = all.of_signals
                                ? prepare_for_signal<F>(all.channel(lane / all.coherence), choice,
                                                        all.y + lane * all.ld_y, a, tau, work, work, all.order(lane))
                                : prepare_channel<F>(all.channel(lane), choice, a, tau, work, all.order(lane));
}

/// Computes z of each signal.
template <class F>
__global__ void __launch_bounds__(search_threads) receive_each(Lanes<F> all) {
  const index_t k = static_cast<index_t>(blockIdx.x) * search_threads + threadIdx.x;
  if (k >= all.signals || all.refused()) return;
  const index_t m = all.rows(), n = all.cols(), lane = all.lane_of(k);
  all.facts[k].reception =
      receive<F>(all.channel(k / all.coherence), all.facts[lane].channel, all.y + k * all.ld_y, all.z(k),
                 [&](const Interleaved<F>& x) { apply_adjoint(m, n, all.at(lane, 0), all.at(lane, m * n), x); });
}

/// Marks signal k as hard; its sphere is known to contain a point.
template <class F>
__device__ void defer_to_warps(const Lanes<F>& all, index_t k, double radius, long long nodes) {
  all.facts[k].radius = radius;
  all.reports[k * all.ld_reports].nodes = nodes;
  all.facts[atomicAdd(&all.facts[0].harders, 1)].harder = static_cast<int>(k);
}

/// Searches with one loop for all of a lane's signals, so that the lanes of a warp run through it together. A signal
/// that is not done after `budget` steps (0: no limit) is left to search_by_warp.
template <class F>
__global__ void __launch_bounds__(search_threads) search_lanes(Lanes<F> all, SearchLimits limits, int budget) {
  if (all.refused()) return;
  index_t k = static_cast<index_t>(blockIdx.x) * search_threads + threadIdx.x;
  LaneSearch<F> one;
  ChannelView<real_t<F>> view = all.view;
  bool busy = false;
  for (int steps = 0;; ++steps) {
    if (!busy) {
      if (k >= all.signals) return;
      view = all.channel(k / all.coherence);
      begin_search(all, k, view, limits, one);
      busy = true, steps = 0;
    }
    busy = one.step(view, all.y + k * all.ld_y, all.facts[k].reception, limits);
    if (!busy) {
      all.reports[k * all.ld_reports] = one.end(view, all.facts[k].reception, all.labels + k * all.ld_labels);
    } else if (budget > 0 && steps >= budget && one.found.any) {
      defer_to_warps(all, k, static_cast<double>(one.radius), one.nodes);
      busy = false;
    }
    if (!busy) k = atomicAdd(&all.facts[0].next, 1);
  }
}

/// Lowers a number that only decreases and is never negative: its bits have its order.
__device__ inline double lower(unsigned long long* shared, double x) {
  return __longlong_as_double(
      static_cast<long long>(atomicMin(shared, static_cast<unsigned long long>(__double_as_longlong(x)))));
}

/// Searches hard signals, with one warp per block. The paths of the last levels are counted, and a lane that is done
/// starts the next path; all use the smallest sphere that any of them knows.
template <class F>
__global__ void __launch_bounds__(32) search_by_warp(Lanes<F> all, SearchLimits limits) {
  using T = real_t<F>;
  __shared__ unsigned long long radius;
  __shared__ int signal, path;
  __shared__ bool found[32], tied[32];
  __shared__ double distances[32];
  __shared__ int best[32][most_streams];
  __shared__ long long nodes[32];
  if (all.refused()) return;
  const int lane = static_cast<int>(threadIdx.x);
  for (;;) {
    __syncthreads();
    if (lane == 0) {
      const int h = atomicAdd(&all.facts[0].taken, 1);
      signal = h < all.facts[0].harders ? all.facts[h].harder : -1;
      path = 0;
      if (signal >= 0) radius = static_cast<unsigned long long>(__double_as_longlong(all.facts[signal].radius));
    }
    __syncthreads();
    const index_t k = signal;
    if (k < 0) return;
    const ChannelView<T> view = all.channel(k / all.coherence);
    LaneSearch<F> one;
    begin_search(all, k, view, limits, one);
    one.bounded = true;
    index_t until = one.tree.n, paths = 1;
    while (until > 1 && paths < 1024) {
      one.tree.open(--until);
      one.tree.at[until] = 0;  // the next open() reads it; the child does not matter here
      paths *= one.tree.children(until);
    }
    bool busy = false;
    for (int steps = 0;; ++steps) {
      if (!busy) {
        const int number = atomicAdd(&path, 1);
        if (number >= paths) break;
        one.radius = static_cast<T>(lower(&radius, 1.7e308));
        busy = one.descend(until, number);
        continue;
      }
      if (steps % 8 == 0) {
        const T known = static_cast<T>(lower(&radius, 1.7e308));
        one.radius = known < one.radius ? known : one.radius;
      }
      const double before = one.found.distance;
      const bool any = one.found.any;
      busy = one.step(view, all.y + k * all.ld_y, all.facts[k].reception, limits);
      if (one.found.any && (!any || one.found.distance < before)) lower(&radius, static_cast<double>(one.radius));
    }
    found[lane] = one.found.any, tied[lane] = one.found.tie, distances[lane] = one.found.distance;
    nodes[lane] = one.nodes;
    for (index_t j = 0; one.found.any && j < view.streams; ++j) best[lane][j] = one.best[j];
    __syncthreads();
    if (lane == 0) {
      one.nodes += all.reports[k * all.ld_reports].nodes;
      for (int other = 1; other < 32; ++other) {
        merge_best(one.found, {found[other], tied[other], distances[other]}, one.tie, view.streams, best[other],
                   one.best);
        one.nodes += nodes[other];
      }
      all.reports[k * all.ld_reports] = one.end(view, all.facts[k].reception, all.labels + k * all.ld_labels);
    }
  }
}

}  // namespace tesela::kernels::mimo
