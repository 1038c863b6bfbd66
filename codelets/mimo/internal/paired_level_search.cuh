#pragma once

#include <tesela/codelets/mimo/internal/paired_level_search_body.hpp>
#include <tesela/codelets/mimo/internal/shared_memory_search.cuh>

// The first part of search_in_shared_memory() for a few streams in single precision: a thread factors a signal's
// channel, and a lane that finishes a signal starts the next one. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr int pair_threads = 64;

template <int N, class T>
__global__ void __launch_bounds__(pair_threads) prepare_pairs(Lanes<T> all) {
  const index_t k = static_cast<index_t>(blockIdx.x) * pair_threads + threadIdx.x;
  if (k == 0) clear_counters(all.facts[0], 0);
  if (k >= all.signals || all.refused()) return;
  PairedLevelFactors<N, T> factors;
  factors.prepare(all.channel(k / all.coherence), all.y + k * all.ld_y);
  factors.each([&](int e, T x) { all.numbers[e * all.lanes + k] = x; });
  all.places[k] = factors.order, all.places[all.lanes + k] = factors.counts;
  all.places[2 * all.lanes + k] = factors.exponent;
}

/// Signals whose nearest point is known; a warp's lanes write 32 of them together.
struct FinishedSignals {
  int signal[2 * warp_lanes], nodes[2 * warp_lanes];
  std::uint64_t path[2 * warp_lanes];
};

template <int N, class T>
struct PairWarp {
  using Search = PairedLevelSearch<N, T, warp_lanes>;
  const Lanes<T>& all;
  index_t k = 0;
  TESELA_INLINE explicit PairWarp(const Lanes<T>& lanes) : all(lanes) {}

  __device__ __forceinline__ double operator()(std::uint64_t path, int* labels) const {
    return distance_of_path(all.channel(k / all.coherence), PairedLevelOrder{all.places[k], N}, 2 * N,
                            all.y + k * all.ld_y, all.places[2 * all.lanes + k], path, labels);
  }
  /// Starts signal `mine`; returns false if it is left at once.
  __device__ __forceinline__ bool take(Search& one, index_t mine) {
    k = mine;
    const int counts = all.places[all.lanes + k];
    if (counts == 0) {
      leave(one, false);
      return false;
    }
    for (int e = 0; e < PairedLevelFactors<N, T>::numbers; ++e) one.factors[e] = all.numbers[e * all.lanes + k];
    one.begin(counts);
    return true;
  }
  /// Leaves a signal that needs longer; its search continues in a separate column order, with its sphere.
  __device__ __forceinline__ void leave(const Search& one, bool began) const {
    SearchReport& report = all.reports[k * all.ld_reports];
    report = {endless<double>, began ? one.nodes : 0, 0};
    all.facts[k].radius = began && one.found.any ? static_cast<double>(one.radius) : 0;
    all.facts[atomicAdd(&all.facts[0].hards, 1)].hard = static_cast<int>(k);
  }
  /// tie: nodes are negative.
  __device__ __forceinline__ void write(int signal, int nodes, std::uint64_t path) {
    k = signal;
    int labels[most_quick_columns / 2];
    SearchReport report;
    report.distance = std::ldexp((*this)(path, labels), all.places[2 * all.lanes + k]);
    report.nodes = nodes < 0 ? -nodes : nodes;
    report.flags = nodes < 0 ? SearchReport::tie : 0;
    all.reports[k * all.ld_reports] = report;
    for (int j = 0; j < N; ++j) all.labels[k * all.ld_labels + j] = labels[j];
  }
};

/// Searches: lanes continue alone until several are done, which then start new signals together.
template <int N, class T>
__global__ void __launch_bounds__(warp_lanes) search_pairs(Lanes<T> all, int budget) {
  if (all.refused()) return;
  constexpr int together = 6, enough = 8;  // steps; waiting lanes
  using Search = typename PairWarp<N, T>::Search;
  __shared__ T numbers[Search::numbers * warp_lanes];
  __shared__ int integers[Search::integers * warp_lanes];
  __shared__ FinishedSignals done;
  DeviceWarp warp;
  const int own = static_cast<int>(threadIdx.x);
  PairWarp<N, T> present(all);
  Search one(numbers + own, integers + own);
  bool busy = false, more = true;
  int steps = 0, waiting = 0;
  const auto write = [&](int from, int count) {
    if (own < count) {
      const index_t kept = present.k;
      present.write(done.signal[from + own], done.nodes[from + own], done.path[from + own]);
      present.k = kept;
    }
    warp.sync();
  };
  for (;;) {
    const unsigned idle = warp.ballot(!busy);
    const int count = __popc(idle);
    if (more && count >= enough) {
      int first = own == 0 ? atomicAdd(&all.facts[0].next, count) : 0;
      first = warp.from(first, 0);
      const index_t mine = static_cast<index_t>(first) + __popc(idle & ((1u << own) - 1));
      if (!busy && mine < all.signals) busy = present.take(one, mine), steps = 0;
      more = static_cast<index_t>(first) + count < all.signals;
    } else if (count == warp_lanes) {
      break;
    }
    bool known = false;
    TESELA_ROLLED
    for (int s = 0; s < together; ++s)
      if (busy && !known) known = !one.step(present), ++steps;
    const bool found = busy && known && one.found.any;
    if (busy && !found && (known || steps >= budget)) present.leave(one, true), busy = false;
    const unsigned ended = warp.ballot(found);
    if (found) {
      const int slot = waiting + __popc(ended & ((1u << own) - 1));
      done.signal[slot] = static_cast<int>(present.k), done.path[slot] = one.best;
      done.nodes[slot] = one.found.tie ? -one.nodes : one.nodes;
      busy = false;
    }
    waiting += __popc(ended);
    warp.sync();
    if (waiting >= warp_lanes) {
      waiting -= warp_lanes;
      write(waiting, warp_lanes);
    }
  }
  write(0, waiting);
}

}  // namespace tesela::kernels::mimo
