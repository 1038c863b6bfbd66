#include <tesela/codelets/mimo/internal/signal_orders_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int threads = 64;

/// What both kernels work on. A lane is a channel, or where the order depends on the signal a signal; the numbers of
/// all lanes stand interleaved in the scratch.
template <class F>
struct Lanes {
  using T = RealOf<F>;
  ChannelView<T> view;  // of the first channel
  const Complex<T>* y;
  index_t ld_y, signals, coherence;
  int* labels;
  index_t ld_labels;
  SearchReport* reports;
  index_t ld_reports;
  ChannelFacts* facts;
  F* numbers;
  int* places;
  index_t lanes;

  __device__ index_t rows() const { return view.template rows<F>(); }
  __device__ index_t cols() const { return view.template cols<F>(); }
  __device__ Interleaved<F> at(index_t lane, index_t number) const { return {numbers + number * lanes + lane, lanes}; }
  __device__ OrderOf order(index_t lane) const { return {places + lane, lanes}; }
  __device__ ChannelView<T> channel(index_t c) const {
    ChannelView<T> one = view;
    one.h += c * view.streams * view.ld;
    return one;
  }
};

template <class F>
__global__ void __launch_bounds__(threads) prepare(Lanes<F> all, OrderChoice choice, bool of_signals, index_t count) {
  const index_t lane = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (lane >= count) return;
  const index_t m = all.rows(), n = all.cols();
  const auto a = all.at(lane, 0), tau = all.at(lane, m * n), work = all.at(lane, m * n + n + m);
  all.facts[lane] = of_signals ? prepare_for_signal<F>(all.channel(lane / all.coherence), choice,
                                                       all.y + lane * all.ld_y, a, tau, work, all.order(lane))
                               : prepare_channel<F>(all.channel(lane), choice, a, tau, work, all.order(lane));
}

template <class F>
__global__ void __launch_bounds__(threads)
    search_each(Lanes<F> all, SearchLimits limits, bool of_signals, bool every_order) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= all.signals) return;
  const index_t m = all.rows(), n = all.cols(), c = k / all.coherence, lane = of_signals ? k : c;
  if (every_order) {
    all.reports[k * all.ld_reports] =
        search_every_order<F>(all.channel(c), all.at(k, 0), all.at(k, m * n), all.order(k), all.y + k * all.ld_y,
                              all.at(k, m * n + n), limits, all.labels + k * all.ld_labels);
    return;
  }
  all.reports[k * all.ld_reports] =
      search<F>(all.channel(c), all.facts[lane], all.at(lane, 0), all.at(lane, m * n), all.order(lane),
                all.y + k * all.ld_y, all.at(k, m * n + n), limits, all.labels + k * all.ld_labels);
}

template <class F>
void launch(const Lanes<F>& all, const OrderChoice& choice, const SearchLimits& limits, index_t channels,
            CUstream_st* stream) {
  const bool of_signals = choice.kind == ColumnOrder::gradient || choice.kind == ColumnOrder::su_wassell;
  const index_t count = of_signals ? all.signals : channels;
  prepare<F><<<static_cast<unsigned>(ceil_div(count, threads)), threads, 0, stream>>>(all, choice, of_signals, count);
  search_each<F><<<static_cast<unsigned>(ceil_div(all.signals, threads)), threads, 0, stream>>>(
      all, limits, of_signals, choice.kind == ColumnOrder::best);
}

template <class F, class T>
void run(const typename SphereSearch<T>::Args& args, const ChannelView<T>& view, const Block<const std::complex<T>>& h,
         const Block<const std::complex<T>>& y, const Block<int>& labels, const Block<SearchReport>& reports, T* work,
         CUstream_st* stream) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  const index_t lanes = y.cols, numbers = channel_numbers(m, n) + m + order_work(m, n);
  auto* const facts = reinterpret_cast<ChannelFacts*>(work);
  auto* const first = reinterpret_cast<F*>(facts + lanes);
  const Lanes<F> all{view,           reinterpret_cast<const Complex<T>*>(y.data),
                     y.ld,           y.cols,
                     args.coherence, labels.data,
                     labels.ld,      reports.data,
                     reports.ld,     facts,
                     first,          reinterpret_cast<int*>(first + numbers * lanes),
                     lanes};
  launch(all, {args.order, args.at, args.up, args.n0}, {args.radius, args.max_nodes, args.plain}, h.cols / args.streams,
         stream);
}

}  // namespace
}  // namespace mimo

template <class T>
void SphereSearch<T>::cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                           In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports,
                           Scratch<T> work) {
  const mimo::ChannelView<T> view{h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data),
                                  h.ld,   columns.data, points.data};
  if (args.real_form)
    mimo::run<T>(args, view, h, y, labels, reports, work.data, context.stream());
  else
    mimo::run<mimo::Complex<T>>(args, view, h, y, labels, reports, work.data, context.stream());
  context.check(static_cast<int>(cudaGetLastError()), "the launch of sphere_search");
}

template decltype(SphereSearch<float>::cuda) SphereSearch<float>::cuda;
template decltype(SphereSearch<double>::cuda) SphereSearch<double>::cuda;

}  // namespace tesela::kernels
