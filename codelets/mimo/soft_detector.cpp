#include <tesela/codelets/mimo/internal/channel_paths.hpp>
#include <tesela/codelets/mimo/internal/propagation.hpp>
#include <tesela/codelets/mimo/internal/soft_subwarp_body.hpp>
#include <tesela/codelets/mimo/internal/soft_tree.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tesela::kernels {
namespace mimo {
namespace {

/// Calls f(labels, metric) for every candidate of complex form, in units of 2^exponent.
template <class T, class F>
void for_each_candidate(const ChannelView<T>& view, const Complex<T>* y, const Penalties<T>& penalties, int exponent,
                        F f) {
  const Scale<double> scale(exponent);
  Complex<double> s[most_streams] = {};
  int at[most_streams] = {}, labels[most_streams] = {};
  for (index_t j = 0; j >= 0;) {
    double penalty = 0;
    for (j = 0; j < view.streams; ++j) {
      const SearchPoint& p = view.points[view.columns[j].first + at[j]];
      s[j] = {p.re, p.im}, labels[j] = p.label;
      penalty += penalties(j, at[j]);
    }
    const double d = distance_of(view, y, scale, s);
    f(labels, d * d + penalty);
    for (j = view.streams - 1; j >= 0 && ++at[j] == view.columns[j].count; --j) at[j] = 0;
  }
}

constexpr double no_answer = SoftDetector<double>::no_answer;

template <class T>
class Soft {
 public:
  Soft(const typename SoftDetector<T>::Args& args, const ChannelView<T>& view, std::vector<int> widths)
      : args_(args),
        view_(view),
        widths_(std::move(widths)),
        tree_(view),
        linear_({view.antennas, view.streams, nullptr, view.antennas, view.columns, view.points}) {}

  void channel(const Complex<T>* h) {
    view_.h = h;
    if (args_.kind == SoftKind::mmse) return linear_channel();
    if (!lists()) return;
    tree_.channel(h, args_.n0);
    factors_ =
        tree_.trees(args_.kind == SoftKind::kbest ? MimoMethod::kbest : MimoMethod::nway, args_.order, true, args_.n0);
  }

  /// Computes L of the bits from metrics in units of 2^exponent. Returns false if they exceed all numbers.
  bool give(const BitDistances& d, int exponent, T* llrs) const {
    const double n0 = scaled_n0(exponent);
    bool known = true;
    for_each_bit([&](std::size_t j, std::size_t bit, index_t place) {
      const double l = over_noise(d.of[1][j][bit] - d.of[0][j][bit], n0);
      llrs[place] = cut_likelihood<T>(l, args_.clip);
      known = known && !std::isnan(l);
    });
    return known;
  }

  /// Finds the bits in complex form, by all methods except tree searches; returns the number of visited nodes.
  double operator()(const Complex<T>* y, Penalties<T>& penalties, T* llrs) {
    if (args_.kind == SoftKind::mmse) return linear(y, llrs);
    return lists() ? listed(y, penalties, llrs) : all_candidates(y, penalties, llrs);
  }

 private:
  double all_candidates(const Complex<T>* y, Penalties<T>& penalties, T* llrs) const {
    T largest = 0;
    for (index_t i = 0; i < view_.antennas; ++i) {
      largest = std::max(largest, size_of(y[i]));
      for (index_t j = 0; j < view_.streams; ++j) largest = std::max(largest, size_of(view_.h[i + j * view_.ld]));
    }
    int exponent = exponent_of(largest);
    exponent += missing_exponent<double>(args_.n0, exponent);
    const double n0 = scaled_n0(exponent);
    penalties.receive(llrs, n0);
    double count = 0;
    std::vector<LogSum> sums[2];
    BitDistances least(widths_);
    for (auto& s : sums) s.resize(static_cast<std::size_t>(bits()));
    for_each_candidate(view_, y, penalties, exponent, [&](const int* labels, double metric) {
      ++count;
      if (args_.kind != SoftKind::app) return least.take(labels, metric);
      for_each_bit([&](std::size_t j, std::size_t bit, index_t place) {
        sums[labels[j] >> bit & 1][static_cast<std::size_t>(place)].add(metric, n0);
      });
    });
    if (args_.kind != SoftKind::app) return give(least, exponent, llrs) ? count : no_answer;
    bool known = true;
    for (index_t k = 0; k < bits(); ++k) {
      const LogSum &zero = sums[0][static_cast<std::size_t>(k)], &one = sums[1][static_cast<std::size_t>(k)];
      const double l = likelihood_of(zero, one, n0);
      llrs[k] = cut_likelihood<T>(l, args_.clip);
      known = known && !std::isnan(l);
    }
    return known ? count : no_answer;
  }

  bool lists() const { return args_.kind == SoftKind::kbest || args_.kind == SoftKind::nway; }
  /// Finds the bits from the paths that the detector of that name keeps.
  double listed(const Complex<T>* y, Penalties<T>& penalties, T* llrs) {
    penalties.receive(llrs, scaled_n0(tree_.exponent()));
    tree_.receive(y);
    BitDistances least(widths_);
    long long nodes = 0;
    int labels[most_streams] = {};
    const bool best = args_.kind == SoftKind::kbest;
    const index_t full = best ? 0 : 1;
    const auto keep = static_cast<std::size_t>(best ? args_.keep : 1);
    for (const Factors<T>& f : factors_) {
      const PathSet<T> found = tree_.paths(f, full, keep, nodes, &penalties, !best);
      const std::size_t n = f.order.size();
      for (std::size_t p = 0; p < found.count(); ++p) {
        for (std::size_t i = 0; i < n; ++i) labels[f.order[i]] = tree_.point(f.order[i], found.at[i + n * p]).label;
        least.take(labels, static_cast<double>(found.distance[p]));
      }
    }
    return give(least, tree_.exponent(), llrs) ? static_cast<double>(nodes) : no_answer;
  }

  /// Factors the channel in double for every T.
  void linear_channel() {
    exact_h_.clear();
    for (index_t j = 0; j < view_.streams; ++j)
      for (index_t i = 0; i < view_.antennas; ++i) exact_h_.push_back(exact(view_.h[i + j * view_.ld]));
    linear_.channel(exact_h_.data());
    std::vector<int> order(static_cast<std::size_t>(view_.streams));
    std::iota(order.begin(), order.end(), 0);
    factors_of_linear_ = linear_.factor(order, linear_.scaled_n0(args_.n0), true);
  }

  double linear(const Complex<T>* y, T* llrs) {
    const Factors<double>& f = factors_of_linear_;
    if (f.singular) return no_answer;
    std::vector<Complex<double>> received;
    for (index_t i = 0; i < view_.antennas; ++i) received.push_back(exact(y[i]));
    linear_.receive(received.data());
    const Estimate<double> estimate = linear_.estimate(f);
    const std::vector<Complex<double>>& x = estimate.x;
    BitDistances d(widths_);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const SearchColumn& column = view_.columns[j];
      const double bias = f.bias(j);
      const SearchPoint& first = view_.points[column.first];
      if (estimate.lost(f, j, bias * column.largest)) return no_answer;
      for (int k = column.first; k < column.first + column.count; ++k) {
        const SearchPoint& p = view_.points[k];
        // |x / bias - s|^2 in noise of (1 - bias) / bias = n0 spread / bias, minus the value for the first s.
        const double square = bias > 0 ? ((p.re - first.re) * (bias * (p.re + first.re) - 2 * x[j].re) +
                                          (p.im - first.im) * (bias * (p.im + first.im) - 2 * x[j].im)) /
                                             f.spread[j]
                                       : 0;
        for (int bit = 0; bit < widths_[j]; ++bit) {
          double& least = d.of[p.label >> bit & 1][j][static_cast<std::size_t>(bit)];
          least = std::min(least, square);
        }
      }
    }
    return give(d, linear_.exponent(), llrs) ? static_cast<double>(view_.streams) : no_answer;
  }

  static Complex<double> exact(Complex<T> x) { return {x.re, x.im}; }
  double scaled_n0(int exponent) const { return scaled_noise<double>(args_.n0, exponent); }
  index_t bits() const {
    index_t sum = 0;
    for (const int width : widths_) sum += width;
    return sum;
  }
  template <class G>
  void for_each_bit(G g) const {
    index_t place = 0;
    for (std::size_t j = 0; j < widths_.size(); ++j)
      for (int bit = widths_[j]; bit-- > 0;) g(j, static_cast<std::size_t>(bit), place++);
  }

  typename SoftDetector<T>::Args args_;
  ChannelView<T> view_;
  std::vector<int> widths_;
  Paths<T> tree_;
  std::vector<Factors<T>> factors_;
  Paths<double> linear_;
  Factors<double> factors_of_linear_;
  std::vector<Complex<double>> exact_h_;
};

template <class F, class T>
void detect(const typename SoftDetector<T>::Args& args, const Block<const std::complex<T>>& h,
            const Block<const std::complex<T>>& y, const ChannelView<T>& view, const Block<T>& llrs,
            const Block<double>& nodes) {
  std::vector<int> sizes(static_cast<std::size_t>(args.streams), 1), widths;
  const index_t columns = view.template cols<F>();
  for (index_t j = 0; j < columns; ++j) sizes[static_cast<std::size_t>(j % args.streams)] *= view.columns[j].count;
  for (const int size : sizes) widths.push_back(static_cast<int>(std::lround(std::log2(size))));
  if (args.kind == SoftKind::ep) return propagate_bits<T>(args, h, y, view, widths, llrs, nodes);
  Soft<T> soft(args, view, widths);
  SoftTree<F> tree(view, {args.order, true, args.n0}, widths);
  Penalties<T> penalties(view, widths, columns);
  const bool searches = args.kind == SoftKind::sts || args.kind == SoftKind::list;
  for (index_t k = 0; k < y.cols; ++k) {
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    if (k % args.coherence == 0) {
      const auto* const one = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
      soft.channel(one);
      if (searches) tree.channel(one);
    }
    double& looked = nodes(0, k);
    if (searches) {
      tree.receive(signal, &llrs(0, k));
      const bool known =
          soft.give(args.kind == SoftKind::sts ? tree.all_bits() : tree.listed(static_cast<std::size_t>(args.keep)),
                    tree.exponent(), &llrs(0, k));
      looked = known ? tree.nodes() : no_answer;
    } else {
      looked = soft(signal, penalties, &llrs(0, k));
    }
    if (looked == no_answer) std::fill_n(&llrs(0, k), llrs.rows, T(0));
  }
}

}  // namespace
}  // namespace mimo

template <class T>
void SoftDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                          In<SearchPoint> points, InOut<T> llrs, Out<double> nodes) {
  const mimo::ChannelView<T> view{h.rows, args.streams, nullptr, h.ld, columns.data, points.data};
  if (args.real_form)
    mimo::detect<T>(args, h, y, view, Block<T>(llrs), Block<double>(nodes));
  else
    mimo::detect<mimo::Complex<T>>(args, h, y, view, Block<T>(llrs), Block<double>(nodes));
}

TESELA_STRUCTS_FOR_REALS(SoftDetector)

template <class T>
bool GpuSoftDetector<T>::takes(SoftKind kind, index_t antennas, index_t streams, index_t amplitudes) {
  if (antennas > mimo::most_quick_size || streams > mimo::most_quick_size) return false;
  if (kind == SoftKind::mmse) return true;
  return kind == SoftKind::nway && amplitudes > 0 && mimo::nway_signals(streams, amplitudes, sizeof(T)) > 0;
}

template <class T>
void GpuSoftDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                             In<SearchPoint> points, Out<T> llrs, Out<double> nodes) {
  for (index_t k = 0; k < llrs.cols; ++k) std::fill_n(&llrs(0, k), llrs.rows, T(0));
  SoftDetector<T>::cpu({.streams = args.streams,
                        .coherence = args.coherence,
                        .kind = args.kind,
                        .real_form = false,
                        .n0 = args.n0,
                        .clip = args.clip,
                        .labels = args.labels},
                       h, y, columns, points, {{llrs.data, llrs.rows, llrs.cols, llrs.ld}}, nodes);
}

TESELA_STRUCTS_FOR_REALS(GpuSoftDetector)

}  // namespace tesela::kernels
