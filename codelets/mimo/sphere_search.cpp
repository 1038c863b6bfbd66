#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

namespace tesela::kernels {
namespace mimo {
namespace {

template <class F, class T>
void search_all(const typename SphereSearch<T>::Args& args, const Block<const std::complex<T>>& h,
                const Block<const std::complex<T>>& y, const SearchColumn* columns, const SearchPoint* points,
                const Block<int>& labels, const Block<SearchReport>& reports) {
  ChannelView<T> view{h.rows, args.streams, nullptr, h.ld, columns, points};
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  std::vector<F> numbers(static_cast<std::size_t>(channel_numbers(m, n) + m + order_work(m, n)));
  // Channels with Su and Wassell's order are so ill conditioned that single precision loses their Gram matrix.
  std::vector<typename DoubleOf<F>::type> exact(static_cast<std::size_t>(n * n + n));
  std::vector<int> places(static_cast<std::size_t>(n));
  F *const a = numbers.data(), *const tau = a + m * n, *const z = tau + n, *const work = z + m;
  const OrderOf order{places.data(), 1};
  const OrderChoice choice{args.order, args.up, args.n0};
  const SearchLimits limits{args.radius, args.max_nodes, args.plain};
  ChannelFacts facts{};
  for (index_t k = 0; k < y.cols; ++k) {
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    const bool fresh = k % args.coherence == 0;
    if (fresh) view.h = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
    if (row_of(args.order).of_signals)
      facts = prepare_for_signal<F>(view, choice, signal, a, tau, work, exact.data(), order);
    else if (fresh)
      facts = prepare_channel<F>(view, choice, a, tau, work, order);
    reports(0, k) = search<F>(view, facts, a, tau, order, signal, z, limits, &labels(0, k));
  }
}

}  // namespace
}  // namespace mimo

template <class T>
index_t SphereSearch<T>::work_size(index_t antennas, index_t streams, bool real_form) {
  const index_t f = real_form ? 2 : 1, m = f * antennas, n = f * streams;
  const index_t numbers = mimo::channel_numbers(m, n) + m + mimo::order_work(m, n);
  const index_t places = ceil_div(n * static_cast<index_t>(sizeof(int)), static_cast<index_t>(sizeof(T)));
  return (real_form ? 1 : 2) * numbers + places + 88 / static_cast<index_t>(sizeof(T));  // and LaneState
}

template <class T>
void SphereSearch<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                          In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports, Scratch<T>) {
  if (!mimo::finite_batch<T>(h, y, reports)) return;
  if (args.real_form)
    mimo::search_all<T, T>(args, h, y, columns.data, points.data, labels, reports);
  else
    mimo::search_all<mimo::Complex<T>, T>(args, h, y, columns.data, points.data, labels, reports);
}

TESELA_STRUCTS_FOR_REALS(SphereSearch)

namespace mimo {
namespace {

template <class F, class T>
std::vector<VisitedNode> trace(const typename SphereSearch<T>::Args& args, const ChannelView<T>& view,
                               const Complex<T>* y) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  const auto numbers = [](index_t k) { return std::vector<F>(static_cast<std::size_t>(k)); };
  std::vector<F> a = numbers(m * n), tau = numbers(n), z = numbers(m), work = numbers(order_work(m, n));
  std::vector<typename DoubleOf<F>::type> exact(static_cast<std::size_t>(n * n + n));
  std::vector<int> places(static_cast<std::size_t>(n)), present(static_cast<std::size_t>(n + 1), -1);
  const OrderOf order{places.data(), 1};
  const OrderChoice choice{args.order, args.up, args.n0};
  const ChannelFacts facts =
      row_of(args.order).of_signals
          ? prepare_for_signal<F>(view, choice, y, a.data(), tau.data(), work.data(), exact.data(), order)
          : prepare_channel<F>(view, choice, a.data(), tau.data(), work.data(), order);
  const Reception reception =
      receive<F>(view, facts, y, z.data(), [&](F* x) { apply_adjoint(m, n, a.data(), tau.data(), x); });
  const SearchLimits limits{args.radius, args.max_nodes, args.plain};
  Search<F, F*, ChannelView<T>> one;
  one.begin(view, facts, m, a.data(), order, z.data(), reception, limits);
  std::vector<VisitedNode> nodes;
  for (bool more = true; more;) {
    const auto level = static_cast<std::size_t>(one.level);
    const long long before = one.nodes;
    const Found known = one.found;
    more = one.step(view, y, reception, limits);
    if (one.nodes == before) continue;
    VisitedNode node{static_cast<int>(level), present[level + 1], places[level], one.tree.at[level], 0, false};
    node.distance = std::ldexp(std::sqrt(static_cast<double>(one.tree.distance[level])), reception.exponent);
    node.best = level == 0 && (!known.any || one.found.distance < known.distance);
    present[level] = static_cast<int>(nodes.size());
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace
}  // namespace mimo

template <class T>
std::vector<VisitedNode> trace_search(const typename SphereSearch<T>::Args& args, const Block<const std::complex<T>>& h,
                                      const std::complex<T>* y, const SearchColumn* columns,
                                      const SearchPoint* points) {
  const mimo::ChannelView<T> view{h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data),
                                  h.ld,   columns,      points};
  const auto* const signal = reinterpret_cast<const mimo::Complex<T>*>(y);
  return args.real_form ? mimo::trace<T>(args, view, signal) : mimo::trace<mimo::Complex<T>>(args, view, signal);
}

template std::vector<VisitedNode> trace_search(const SphereSearch<float>::Args&,
                                               const Block<const std::complex<float>>&, const std::complex<float>*,
                                               const SearchColumn*, const SearchPoint*);
template std::vector<VisitedNode> trace_search(const SphereSearch<double>::Args&,
                                               const Block<const std::complex<double>>&, const std::complex<double>*,
                                               const SearchColumn*, const SearchPoint*);

}  // namespace tesela::kernels
