#include <tesela/codelets/mimo/internal/signal_orders_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/search_trace.hpp>

#include <cmath>

namespace tesela::kernels {
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
