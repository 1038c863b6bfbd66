#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace tesela::kernels {
namespace mimo {
namespace {

/// A channel whose s are integer vectors, in real form.
template <class T>
struct WholeChannel : ChannelView<T> {
  static constexpr index_t most_labels = 2 * most_streams;
  index_t label_count() const { return 2 * this->streams; }
};

template <class P, class T>
double leaf_of(const WholeChannel<T>& view, const Tree<T, P>& tree, const Complex<T>* y, const Scale<double>& scale,
               int* labels) {
  Complex<double> s[most_streams] = {};
  for (index_t i = 0; i < tree.n; ++i) {
    const int j = tree.order[i];
    const double value = tree.columns[j].low + tree.at[i];
    labels[j] = static_cast<int>(value);
    (j < view.streams ? s[j].re : s[j - view.streams].im) = value;
  }
  return distance_of(static_cast<const ChannelView<T>&>(view), y, scale, s);
}

struct Point {
  double distance;
  std::vector<int> labels;
  bool operator<(const Point& other) const {
    return distance != other.distance ? distance < other.distance : labels < other.labels;
  }
};

/// Lists for channels and signals of one form.
template <class F, class View, class T>
class Lists {
 public:
  Lists(const typename SphereList<T>::Args& args, const View& view, const Block<const SearchColumn>& columns)
      : args_(args), view_(view), m_(view.template rows<F>()), n_(view.template cols<F>()) {
    const auto size = [](index_t k) { return static_cast<std::size_t>(k); };
    a_.resize(size(m_ * n_)), tau_.resize(size(n_)), z_.resize(size(m_)), work_.resize(size(order_work(m_, n_)));
    places_.resize(size(n_));
    columns_.assign(columns.data, columns.data + n_);
    view_.columns = columns_.data();
  }

  void channel(const Complex<T>* h) {
    view_.h = h;
    const OrderOf order{places_.data(), 1};
    facts_ = prepare_channel<F>(view_, {args_.order, true, args_.n0}, a_.data(), tau_.data(), work_.data(), order);
    dependent_ = args_.integers && m_ < n_;
    real_t<F> largest = 0;
    for (index_t j = 0; j < n_ && !dependent_; ++j)
      for (index_t i = 0; i <= j; ++i) largest = std::max(largest, size_of(a_[at(i, j)]));
    const real_t<F> least = 8 * static_cast<real_t<F>>(n_) * std::numeric_limits<real_t<F>>::epsilon() * largest;
    for (index_t k = 0; k < n_ && args_.integers && !dependent_; ++k) dependent_ = !(size_of(a_[at(k, k)]) > least);
  }

  SearchReport operator()(const Complex<T>* y, int* labels, double* distances, int& count) {
    const index_t rows = view_.label_count();
    SearchReport report;
    count = 0;
    if (dependent_) {
      report.flags = SearchReport::failed;
      return report;
    }
    std::vector<int> nearest(static_cast<std::size_t>(rows));
    if (args_.integers) {  // the bound of rounding errors follows from the size of the parts
      for (SearchColumn& c : columns_) c.largest = 0;
      reach(nearest, false);
      search(y, {0, 1}, nearest, NoListener{});
      if (beyond(nearest)) {  // too many points have the same distance there, up to rounding
        report.flags = SearchReport::failed;
        return report;
      }
      reach(nearest, true);
    }
    std::vector<Point> all;
    if (args_.radius > 0) {
      const auto listen = [&](double exact, const int* leaf) {
        const double distance = std::ldexp(exact, exponent_);
        if (!(distance <= args_.radius)) return;
        ++count;
        all.push_back({distance, {leaf, leaf + rows}});
        std::push_heap(all.begin(), all.end());  // the farthest kept leaf comes first
        if (static_cast<index_t>(all.size()) <= args_.most) return;
        std::pop_heap(all.begin(), all.end());
        all.pop_back();
      };
      report = search(y, {args_.radius, args_.max_nodes, false, true}, nearest, listen);
      std::sort(all.begin(), all.end());
    } else {
      report = search(y, {0, args_.max_nodes}, nearest, NoListener{});
      count = 1, all.push_back({report.distance, nearest});
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::copy(all[k].labels.begin(), all[k].labels.end(), labels + static_cast<index_t>(k) * rows);
      distances[k] = all[k].distance;
      if (args_.integers && beyond(all[k].labels)) report.flags |= SearchReport::failed;
    }
    return report;
  }

 private:
  /// Returns whether a part is the last integer that fits into int and is exact in T: it may represent larger ones.
  static bool beyond(const std::vector<int>& parts) {
    constexpr int last = (sizeof(T) == 4 ? 1 << 22 : 1 << 30) - 1;
    return std::any_of(parts.begin(), parts.end(), [](int part) { return std::abs(part) >= last; });
  }
  std::size_t at(index_t i, index_t j) const { return static_cast<std::size_t>(i + j * m_); }

  /// Sets the reach to four times the parts of the first leaf.
  void reach(const std::vector<int>& nearest, bool known) {
    facts_.reach = 0;
    for (index_t k = 0; k < n_; ++k) {
      real_t<F> sum = 0;
      for (index_t i = 0; i <= k; ++i) sum += norm(a_[at(i, k)]);
      const double part =
          known ? 4.0 * (1.0 + std::abs(static_cast<double>(
                                   nearest[static_cast<std::size_t>(places_[static_cast<std::size_t>(k)])])))
                : 0;
      facts_.reach += std::sqrt(static_cast<double>(sum)) * part;
    }
  }

  template <class Listener>
  SearchReport search(const Complex<T>* y, const SearchLimits& limits, std::vector<int>& nearest,
                      const Listener& listen) {
    const Reception reception =
        receive<F>(view_, facts_, y, z_.data(), [&](F* x) { apply_adjoint(m_, n_, a_.data(), tau_.data(), x); });
    exponent_ = reception.exponent;
    Search<F, F*, View> one;
    one.begin(view_, facts_, m_, a_.data(), OrderOf{places_.data(), 1}, z_.data(), reception, limits);
    for (index_t j = 0; j < view_.label_count(); ++j) one.best[j] = 0;
    while (one.step(view_, y, reception, limits, listen)) {
    }
    return one.end(view_, reception, nearest.data());
  }

  typename SphereList<T>::Args args_;
  View view_;
  index_t m_, n_;
  ChannelFacts facts_{};
  std::vector<F> a_, tau_, z_, work_;
  std::vector<int> places_;
  std::vector<SearchColumn> columns_;
  bool dependent_ = false;
  int exponent_ = 0;
};

template <class F, class View, class T>
void list_all(const typename SphereList<T>::Args& args, const View& view, const Block<const SearchColumn>& columns,
              const Block<const std::complex<T>>& h, const Block<const std::complex<T>>& y, const Block<int>& labels,
              const Block<double>& distances, const Block<int>& counts, const Block<SearchReport>& reports) {
  Lists<F, View, T> lists(args, view, columns);
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0)
      lists.channel(reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams)));
    std::fill_n(&labels(0, k), labels.rows, -1);
    std::fill_n(&distances(0, k), distances.rows, std::numeric_limits<double>::quiet_NaN());
    reports(0, k) = lists(reinterpret_cast<const Complex<T>*>(&y(0, k)), &labels(0, k), &distances(0, k), counts(0, k));
  }
}

}  // namespace
}  // namespace mimo

template <class T>
void SphereList<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                        In<SearchPoint> points, Out<int> labels, Out<double> distances, Out<int> counts,
                        Out<SearchReport> reports) {
  const mimo::ChannelView<T> view{h.rows, args.streams, nullptr, h.ld, columns.data, points.data};
  const Block<const std::complex<T>> channels = h, signals = y;
  const Block<const SearchColumn> lists = columns;
  const Block<int> l = labels, c = counts;
  const Block<double> d = distances;
  const Block<SearchReport> r = reports;
  if (args.integers)
    mimo::list_all<T, mimo::WholeChannel<T>, T>(args, mimo::WholeChannel<T>{view}, lists, channels, signals, l, d, c,
                                                r);
  else if (args.real_form)
    mimo::list_all<T, mimo::ChannelView<T>, T>(args, view, lists, channels, signals, l, d, c, r);
  else
    mimo::list_all<mimo::Complex<T>, mimo::ChannelView<T>, T>(args, view, lists, channels, signals, l, d, c, r);
}

TESELA_STRUCTS_FOR_REALS(SphereList)

}  // namespace tesela::kernels
