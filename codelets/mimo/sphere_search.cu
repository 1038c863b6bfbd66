#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/paired_level_search_body.hpp>
#include <tesela/codelets/mimo/internal/shared_memory_search.cuh>
#include <tesela/codelets/mimo/internal/warp_search.cuh>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

// The GPU's sphere search. For a few streams in single precision the first part of search_in_shared_memory() is
// another: a thread factors a signal's channel, and a lane that finishes a signal starts the next one.

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int pair_threads = 64;

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

/// Returns the largest number of signals that gives a lane hardly more than one signal. A long search of one signal is
/// then too slow.
index_t most_signals_per_pass(unsigned present) { return index_t{3072} * present; }

template <int N>
void launch_pairs(const Lanes<float>& all, unsigned present, CUstream_st* stream) {
  // Steps: five times the mean at usual noise, or twenty times.
  const int budget = all.signals < most_signals_per_pass(present) ? 40 * N : 160 * N;
  const auto blocks = static_cast<unsigned>(ceil_div(all.signals, static_cast<index_t>(pair_threads)));
  prepare_pairs<N><<<blocks, pair_threads, 0, stream>>>(all);
  const auto needed = static_cast<unsigned>(ceil_div(all.signals, static_cast<index_t>(warp_lanes)));
  const unsigned warps = std::min(needed, 24 * present);
  search_pairs<N><<<warps, warp_lanes, 0, stream>>>(all, budget);
}

/// Runs the first part of search_in_shared_memory() if pairs_search() holds and the search is not bounded. Signals that
/// it does not finish are left as its lanes leave them. present: multiprocessors.
void search_paired_levels(const Lanes<float>& all, unsigned present, CUstream_st* stream) {
  switch (all.view.streams) {
    case 2: return launch_pairs<2>(all, present, stream);
    case 3: return launch_pairs<3>(all, present, stream);
    case 4: return launch_pairs<4>(all, present, stream);
    case 5: return launch_pairs<5>(all, present, stream);
    default: return launch_pairs<6>(all, present, stream);
  }
}

/// Steps after which a signal is left to a warp: ten times the mean at usual noise.
constexpr int steps_alone = 400;

int multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count > 0 ? count : 1;
}

/// Returns the steps that a lane spends on a signal; second_search_steps() returns the steps with its columns in a
/// better order. With a bound on nodes a signal goes to a warp early. Without a bound the sphere should be small before
/// a warp shares the tree.
int first_search_steps(index_t n) { return 8 * static_cast<int>(n); }
/// `few` signals end with the slowest of them.
int second_search_steps(index_t n, const SearchLimits& limits, bool few) {
  return limits.max_nodes > 0 ? 4 * static_cast<int>(n) : few ? 8 * static_cast<int>(n) : 16384;
}

template <class T>
bool in_pairs(const Lanes<T>& all, const OrderChoice& choice, const SearchLimits& limits) {
  return sizeof(T) == 4 && limits.max_nodes == 0 && pairs_search(choice.kind, all.view.streams);
}

template <class T>
void prepare_in_groups(const Lanes<T>& all, const OrderChoice& choice, index_t count, bool again, unsigned present,
                       CUstream_st* stream) {
  const index_t m = all.rows(), n = all.cols(), size = m > n ? m : n;
  const int group = size <= 8 ? 8 : 16;
  const index_t wanted = ceil_div(count * group, prepare_threads), most = 16 * present;
  const auto blocks = static_cast<unsigned>(again && wanted > most ? most : wanted);
  const auto kernel = group == 8 ? prepare_by_groups<8, T> : prepare_by_groups<16, T>;
  kernel<<<blocks, prepare_threads, 0, stream>>>(all, choice, count, again);
}

/// Runs every signal's first search, by lanes.
template <class T>
void search_first(const Lanes<T>& all, const OrderChoice& choice, const SearchLimits& limits, index_t channels,
                  int bytes, unsigned present, CUstream_st* stream) {
  const index_t m = all.rows(), n = all.cols(), count = all.of_signals ? all.signals : channels;
  if constexpr (sizeof(T) == 4)
    if (in_pairs(all, choice, limits)) return search_paired_levels(all, present, stream);
  if (lanes_prepare(choice.kind, m, n))
    prepare_in_groups(all, choice, count, false, present, stream);
  else
    prepare<T>
        <<<static_cast<unsigned>(ceil_div(count, search_threads)), search_threads, 0, stream>>>(all, choice, count, 0);
  search_by_lanes<T><<<static_cast<unsigned>(ceil_div(all.signals, warp_lanes)), warp_lanes, bytes, stream>>>(
      all, limits, first_search_steps(n), false);
}

template <class T>
void search_in_shared_memory(Lanes<T> all, const OrderChoice& choice, const SearchLimits& limits, index_t channels,
                             CUstream_st* stream) {
  const unsigned present = static_cast<unsigned>(multiprocessors());
  const index_t n = all.cols();
  const int columns = static_cast<int>(n), each = numbers_per_lane(columns) * static_cast<int>(sizeof(T)) + 4 * columns;
  const int bytes = warp_lanes * each;
  cudaFuncSetAttribute(search_by_lanes<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaFuncSetAttribute(search_path_list<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const index_t warps = ceil_div(all.signals, warp_lanes), most = 24 * present;
  const bool few = in_pairs(all, choice, limits) && all.signals < most_signals_per_pass(present);
  search_first(all, choice, limits, channels, bytes, present, stream);
  all.of_signals = true;
  OrderChoice better = choice;
  better.kind = ColumnOrder::su_wassell;
  prepare_in_groups(all, better, all.signals, true, present, stream);
  search_by_lanes<T><<<static_cast<unsigned>(warps < most ? warps : most), warp_lanes, bytes, stream>>>(
      all, limits, second_search_steps(n, limits, few), true);
  const auto hard = static_cast<unsigned>(all.signals < 8 * present ? all.signals : 8 * present);
  search_path_list<T><<<hard, warp_lanes, bytes, stream>>>(all, limits);
  search_by_warp<T><<<hard, warp_lanes, 0, stream>>>(all, {});
}

template <class F>
void launch(const Lanes<F>& all, const OrderChoice& choice, const SearchLimits& limits, index_t channels,
            CUstream_st* stream) {
  const auto blocks = [](index_t lanes) { return static_cast<unsigned>(ceil_div(lanes, search_threads)); };
  if constexpr (!is_complex<F>)
    if (!limits.plain && !(limits.radius > 0) && fits_shared_memory_search(all.rows(), all.cols()))
      return search_in_shared_memory(all, choice, limits, channels, stream);
  const unsigned present = static_cast<unsigned>(multiprocessors()), most = 16 * present;
  const unsigned grid = blocks(all.signals) < most ? blocks(all.signals) : most;
  const index_t count = all.of_signals ? all.signals : channels;
  // A search with a bound on nodes or a listed sphere runs in one lane.
  const int budget = limits.max_nodes > 0 || limits.plain ? 0 : steps_alone;
  prepare<F><<<blocks(count), search_threads, 0, stream>>>(all, choice, count, static_cast<int>(grid) * search_threads);
  receive_each<F><<<blocks(all.signals), search_threads, 0, stream>>>(all);
  search_lanes<F><<<grid, search_threads, 0, stream>>>(all, limits, budget);
  if (budget > 0) {
    const index_t warps = all.signals < 8 * present ? all.signals : 8 * present;
    search_by_warp<F><<<static_cast<unsigned>(warps), 32, 0, stream>>>(all, limits);
  }
}

template <class F, class T>
void run(const typename SphereSearch<T>::Args& args, const ChannelView<T>& view, const Block<const std::complex<T>>& h,
         const Block<const std::complex<T>>& y, const Block<int>& labels, const Block<SearchReport>& reports, T* work,
         CUstream_st* stream) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  const index_t lanes = y.cols, numbers = channel_numbers(m, n) + m + order_work(m, n);
  auto* const facts = reinterpret_cast<LaneState*>(work);
  const bool of_signals = row_of(args.order).of_signals;
  auto* const first = reinterpret_cast<F*>(facts + lanes);
  const Lanes<F> all{view,           reinterpret_cast<const Complex<T>*>(y.data),
                     y.ld,           y.cols,
                     args.coherence, labels.data,
                     labels.ld,      reports.data,
                     reports.ld,     facts,
                     first,          reinterpret_cast<int*>(first + numbers * lanes),
                     lanes,          of_signals};
  launch(all, {args.order, args.up, args.n0}, {args.radius, args.max_nodes, args.plain}, h.cols / args.streams, stream);
}

}  // namespace
}  // namespace mimo

template <class T>
void SphereSearch<T>::cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                           In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports,
                           Scratch<T> work) {
  const mimo::ChannelView<T> view{h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data),
                                  h.ld,   columns.data, points.data};
  if (y.cols == 0) return;
  mimo::find_not_finite<T>(context.stream(), h, y, reports);
  if (args.real_form)
    mimo::run<T>(args, view, h, y, labels, reports, work.data, context.stream());
  else
    mimo::run<mimo::Complex<T>>(args, view, h, y, labels, reports, work.data, context.stream());
  context.check(static_cast<int>(cudaGetLastError()), "the launch of sphere_search");
}

TESELA_CUDA_FOR_REALS(SphereSearch)

}  // namespace tesela::kernels
