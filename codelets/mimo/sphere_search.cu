#include <tesela/codelets/mimo/internal/finite_batch.hpp>
#include <tesela/codelets/mimo/internal/paired_level_launch.cuh>
#include <tesela/codelets/mimo/internal/paired_level_search_body.hpp>
#include <tesela/codelets/mimo/internal/shared_memory_search.cuh>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

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
  if constexpr (!NumberOf<F>::complex)
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

template decltype(SphereSearch<float>::cuda) SphereSearch<float>::cuda;
template decltype(SphereSearch<double>::cuda) SphereSearch<double>::cuda;

}  // namespace tesela::kernels
