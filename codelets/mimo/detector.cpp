#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/special_detectors.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace tesela::kernels {
namespace mimo {
namespace {

/// Q R = [H; alpha I] P, scaled, alpha = 0 without the lower part; and what slicing needs.
template <class T>
struct Factors {
  index_t m = 0, n = 0;
  T alpha2 = 0;
  std::vector<Complex<T>> a, tau;
  std::vector<int> order;
  std::vector<T> bias;  ///< of mmse: 1 - alpha^2 ((H^H H + alpha^2 I)^-1)(j, j), by streams
  bool singular = false;

  Complex<T> r(index_t i, index_t j) const { return i < m ? a[static_cast<std::size_t>(i + j * m)] : Complex<T>{}; }
};

template <class T>
class Detecting {
 public:
  using Number = Complex<T>;
  Detecting(const typename Detector<T>::Args& args, ChannelView<T> view) : args_(args), view_(view) {}

  void channel(const std::complex<T>* h) {
    view_.h = reinterpret_cast<const Number*>(h);
    const index_t m = view_.antennas, n = view_.streams;
    h_.resize(static_cast<std::size_t>(m * n));
    facts_ = load_channel<Number>(view_, h_.data());
    facts_.reach = 0;
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t i = 0; i < m; ++i) sum += static_cast<double>(norm(h_[static_cast<std::size_t>(i + j * m)]));
      facts_.reach += std::sqrt(sum) * view_.columns[j].largest;
    }
    const bool ordered = args_.kind == DetectorKind::zf_sic || args_.kind == DetectorKind::mmse_sic ||
                         args_.kind == DetectorKind::kbest || args_.kind == DetectorKind::fsd;
    const bool mmse = args_.kind == DetectorKind::mmse || args_.kind == DetectorKind::mmse_sic;
    std::vector<int> order(static_cast<std::size_t>(n));
    std::vector<Number> work(static_cast<std::size_t>(order_work(m, n)));
    const T alpha2 = scaled_noise<T>(args_.n0, facts_.exponent);
    order_columns(ordered ? args_.order : ColumnOrder::natural, args_.up, m, n, h_.data(), alpha2, work.data(),
                  OrderOf{order.data(), 1});
    factors_.clear();
    if (args_.kind == DetectorKind::mf) return;
    if (args_.kind != DetectorKind::nway) return factors_.push_back(factor(order, mmse ? alpha2 : T(0)));
    order_columns(ColumnOrder::sqrd, true, m, n, h_.data(), alpha2, work.data(), OrderOf{order.data(), 1});
    for (index_t j = 0; j < n; ++j) {
      std::vector<int> last = order;
      std::stable_partition(last.begin(), last.end(), [&](int k) { return k != j; });
      factors_.push_back(factor(last, 0));
    }
  }

  SearchReport operator()(const std::complex<T>* received, int* labels) {
    y_ = reinterpret_cast<const Number*>(received);
    found_ = {};
    report_ = {};
    size_ = 0;
    const Scale<T> scale(facts_.exponent);
    left_.clear();
    for (index_t i = 0; i < view_.antennas; ++i) left_.push_back(scale(y_[i])), size_ += norm(left_.back());
    size_ = std::sqrt(size_);
    for (const Factors<T>& f : factors_)
      if (f.singular && args_.kind != DetectorKind::kbest && args_.kind != DetectorKind::fsd &&
          args_.kind != DetectorKind::nway)
        return fail(labels);
    switch (args_.kind) {
      case DetectorKind::mf:
        matched_filter();
        break;
      case DetectorKind::zf:
      case DetectorKind::mmse:
        linear(factors_.front());
        break;
      case DetectorKind::zf_sic:
      case DetectorKind::mmse_sic:
        paths(factors_.front(), 0, 1);
        break;
      case DetectorKind::kbest:
        paths(factors_.front(), 0, static_cast<std::size_t>(args_.keep));
        break;
      case DetectorKind::fsd:
        paths(factors_.front(), args_.keep, 1);
        break;
      case DetectorKind::nway:
        for (const Factors<T>& f : factors_) paths(f, 1, 1);
        break;
      case DetectorKind::lr:
      case DetectorKind::ep:
        break;  // SpecialDetector's
    }
    std::copy(best_, best_ + view_.streams, labels);
    report_.distance = std::ldexp(found_.distance, facts_.exponent);
    return report_;
  }

 private:
  struct Path {
    T distance = 0;
    std::vector<int> at;  ///< points by levels, the last one first
  };

  SearchReport fail(int* labels) const {
    std::fill_n(labels, view_.streams, -1);
    SearchReport report;
    report.flags = SearchReport::failed;
    return report;
  }

  Factors<T> factor(const std::vector<int>& order, T alpha2) const {
    const index_t rows = view_.antennas, n = view_.streams, m = alpha2 > 0 ? rows + n : rows;
    Factors<T> f{m,
                 n,
                 alpha2,
                 std::vector<Number>(static_cast<std::size_t>(m * n)),
                 std::vector<Number>(static_cast<std::size_t>(n)),
                 order,
                 {},
                 m < n};
    T largest = 0;
    for (index_t k = 0; k < n; ++k)
      for (index_t i = 0; i < m; ++i) {
        Number& x = f.a[static_cast<std::size_t>(i + k * m)];
        x = i < rows ? h_[static_cast<std::size_t>(i + order[static_cast<std::size_t>(k)] * rows)]
                     : Number{i - rows == k ? std::sqrt(alpha2) : T(0), 0};
      }
    reflect(m, n, f.a.data(), f.tau.data(), nullptr, 0, false);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) largest = std::max(largest, size_of(f.r(i, j)));
    for (index_t k = 0; k < n && !f.singular; ++k)
      f.singular = !(size_of(f.r(k, k)) > 8 * static_cast<T>(n) * std::numeric_limits<T>::epsilon() * largest);
    if (args_.kind == DetectorKind::mmse && !f.singular) biases(f);
    return f;
  }

  /// From the rows of R^-1, which is found column by column.
  void biases(Factors<T>& f) const {
    const auto n = static_cast<std::size_t>(f.n);
    f.bias.assign(n, 1);
    for (std::size_t c = 0; c < n; ++c) {
      std::vector<Number> x(n);
      for (std::size_t i = c + 1; i-- > 0;) {
        Number left{i == c ? T(1) : T(0), 0};
        for (std::size_t j = i + 1; j <= c; ++j) left -= f.r(index_t(i), index_t(j)) * x[j];
        const Number r = f.r(index_t(i), index_t(i));
        x[i] = left * conj(r) / norm(r);
        f.bias[static_cast<std::size_t>(f.order[i])] -= f.alpha2 * norm(x[i]);
      }
    }
  }

  std::vector<Number> receive(const Factors<T>& f) const {
    std::vector<Number> z = left_;
    z.resize(static_cast<std::size_t>(f.m));
    apply_adjoint(f.m, f.n, f.a.data(), f.tau.data(), z.data());
    z.resize(static_cast<std::size_t>(std::max(f.m, f.n)));
    return z;
  }

  const SearchPoint& point(index_t stream, int k) const { return view_.points[view_.columns[stream].first + k]; }
  Number value(index_t stream, int k) const {
    const SearchPoint& p = point(stream, k);
    return {static_cast<T>(p.re), static_cast<T>(p.im)};
  }
  /// The point a of which |left - r a| is least.
  int slice(index_t stream, Number left, Number r) const {
    int best = 0;
    T least = 0;
    for (int k = 0; k < view_.columns[stream].count; ++k) {
      const T d = norm(left - r * value(stream, k));
      if (k == 0 || d < least) best = k, least = d;
    }
    return best;
  }

  /// Takes a candidate, points by streams, into account.
  void take(const std::vector<int>& at) {
    Complex<double> s[most_streams];
    int labels[most_streams];
    for (index_t j = 0; j < view_.streams; ++j) {
      const SearchPoint& p = point(j, at[static_cast<std::size_t>(j)]);
      s[j] = {p.re, p.im}, labels[j] = p.label;
    }
    const double tie = 2.0 * static_cast<double>(view_.streams + 4) * 2.3e-16 * reach();
    take_leaf(found_, distance_of(view_, y_, Scale<double>(facts_.exponent), s), tie, view_.streams, labels, best_);
  }
  double reach() const { return static_cast<double>(size_) + facts_.reach; }

  void matched_filter() {
    const index_t m = view_.antennas;
    std::vector<int> at;
    for (index_t j = 0; j < view_.streams; ++j) {
      Number sum{};
      T square = 0;
      for (index_t i = 0; i < m; ++i) {
        const Number& x = h_[static_cast<std::size_t>(i + j * m)];
        sum += conj(x) * left_[static_cast<std::size_t>(i)], square += norm(x);
      }
      at.push_back(slice(j, sum, {square, 0}));
    }
    report_.nodes = view_.streams;
    take(at);
  }

  void linear(const Factors<T>& f) {
    const std::vector<Number> z = receive(f);
    const auto n = static_cast<std::size_t>(f.n);
    std::vector<Number> x(n);
    std::vector<int> at(n);
    for (std::size_t i = n; i-- > 0;) {
      Number left = z[i];
      for (std::size_t j = i + 1; j < n; ++j) left -= f.r(index_t(i), index_t(j)) * x[j];
      const Number r = f.r(index_t(i), index_t(i));
      x[i] = left * conj(r) / norm(r);
      const auto stream = static_cast<std::size_t>(f.order[i]);
      at[stream] = slice(index_t(stream), x[i], {args_.kind == DetectorKind::mmse ? f.bias[stream] : T(1), 0});
    }
    report_.nodes = f.n;
    take(at);
  }

  /// Level by level the nearest `keep` paths, but all of them in the first `full` levels and of each path of those one
  /// child at every level from there. The candidates that rounding cannot tell apart are compared in double.
  void paths(const Factors<T>& f, index_t full, std::size_t keep) {
    const std::vector<Number> z = receive(f);
    std::vector<Path> now{Path{}}, next;
    for (index_t i = f.n - 1; i >= 0; --i) {
      const index_t stream = f.order[static_cast<std::size_t>(i)];
      // Without its bias, level i of mmse_sic multiplies less than r: r (1 - (alpha / r)^2).
      Number r = f.r(i, i);
      if (f.alpha2 > 0) r = (1 - f.alpha2 / norm(r)) * r;
      next.clear();
      for (const Path& path : now) {
        Number left = z[static_cast<std::size_t>(i)];
        for (index_t j = i + 1; j < f.n; ++j)
          left -=
              f.r(i, j) * value(f.order[static_cast<std::size_t>(j)], path.at[static_cast<std::size_t>(f.n - 1 - j)]);
        const bool all = f.n - 1 - i < full || (full == 0 && keep > 1);
        const int only = all ? -1 : slice(stream, left, r);
        for (int k = 0; k < view_.columns[stream].count; ++k) {
          if (!all && k != only) continue;
          next.push_back(path);
          next.back().distance += norm(left - r * value(stream, k));
          next.back().at.push_back(k);
        }
      }
      report_.nodes += static_cast<long long>(next.size());
      if (full == 0 && next.size() > keep) {
        std::stable_sort(next.begin(), next.end(),
                         [](const Path& p, const Path& q) { return p.distance < q.distance; });
        next.resize(keep);
      }
      now.swap(next);
    }
    T least = now.front().distance;
    for (const Path& path : now) least = std::min(least, path.distance);
    const double slack =
        4.0 * static_cast<double>(f.n + 4) * static_cast<double>(std::numeric_limits<T>::epsilon()) * reach();
    const double near = std::sqrt(static_cast<double>(least)) + 2 * slack;
    std::vector<int> at(static_cast<std::size_t>(f.n));
    for (const Path& path : now) {
      if (std::sqrt(static_cast<double>(path.distance)) > near) continue;
      for (std::size_t i = 0; i < at.size(); ++i) at[static_cast<std::size_t>(f.order[i])] = path.at[at.size() - 1 - i];
      take(at);
    }
  }

  typename Detector<T>::Args args_;
  ChannelView<T> view_;
  ChannelFacts facts_{};
  std::vector<Number> h_, left_;
  std::vector<Factors<T>> factors_;
  const Number* y_ = nullptr;
  T size_ = 0;
  Found found_;
  SearchReport report_;
  int best_[most_streams] = {};
};

/// lr and ep.
template <class T>
void detect_specially(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                      const Block<const std::complex<T>>& y, ChannelView<T> view, const Block<int>& labels,
                      const Block<SearchReport>& reports) {
  const bool real_form = args.kind == DetectorKind::lr;
  const auto detector = real_form ? lattice_reduction<T>() : expectation_propagation<T>(args.n0);
  std::vector<int> at(static_cast<std::size_t>(2 * args.streams));
  bool able = true;
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) {
      view.h = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
      able = detector->channel(view);
    }
    SearchReport& report = reports(0, k) = {};
    if (!able) {
      std::fill_n(&labels(0, k), args.streams, -1);
      report.flags = SearchReport::failed;
      continue;
    }
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    const Scale<double> scale(detector->exponent());
    std::vector<Complex<double>> left;
    for (index_t i = 0; i < view.antennas; ++i)
      left.push_back(scale(Complex<double>{static_cast<double>(signal[i].re), static_cast<double>(signal[i].im)}));
    detector->detect(left, at.data());
    Complex<double> s[most_streams];
    for (index_t j = 0; j < args.streams; ++j) {
      const auto place = [&](index_t column) { return at[static_cast<std::size_t>(column)]; };
      const auto point = [&](index_t column) { return view.points[view.columns[column].first + place(column)]; };
      const auto amplitude = [&](index_t column) {
        return view.columns[column].low + place(column) * view.columns[column].step;
      };
      const index_t other = j + args.streams;
      s[j] = real_form ? Complex<double>{amplitude(j), amplitude(other)} : Complex<double>{point(j).re, point(j).im};
      labels(j, k) = real_form ? point(j).label | point(other).label : point(j).label;
    }
    report.distance = std::ldexp(distance_of(view, signal, scale, s), detector->exponent());
    report.nodes = args.streams;
  }
}

}  // namespace
}  // namespace mimo

template <class T>
void Detector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                      In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  if (args.kind == DetectorKind::lr || args.kind == DetectorKind::ep)
    return mimo::detect_specially<T>(args, h, y, {h.rows, args.streams, nullptr, h.ld, columns.data, points.data},
                                     labels, reports);
  mimo::Detecting<T> detect(args, {h.rows, args.streams, nullptr, h.ld, columns.data, points.data});
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) detect.channel(&h(0, k / args.coherence * args.streams));
    reports(0, k) = detect(&y(0, k), &labels(0, k));
  }
}

template struct Detector<float>;
template struct Detector<double>;

}  // namespace tesela::kernels
