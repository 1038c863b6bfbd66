#include <tesela/codelets/mimo/internal/sphere_body.hpp>
#include <tesela/codelets/mimo/soft_detector.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();

/// The least square distance for each value of each bit of each stream.
struct BitDistances {
  std::vector<std::vector<double>> of[2];  ///< [value][stream][bit], bit 0 the least significant
  explicit BitDistances(const std::vector<int>& widths) {
    for (auto& value : of)
      for (const int width : widths) value.emplace_back(static_cast<std::size_t>(width), far);
  }
};

/// A channel's tree, and searches in it. Square distances are in the channel's scaled units.
template <class F>
class SoftTree {
 public:
  using T = RealOf<F>;
  SoftTree(ChannelView<T> view, const OrderChoice& choice, std::vector<int> widths)
      : view_(view),
        choice_(choice),
        widths_(std::move(widths)),
        m_(view.template rows<F>()),
        n_(view.template cols<F>()) {
    const auto m = static_cast<std::size_t>(m_), n = static_cast<std::size_t>(n_);
    a_.resize(m * n), tau_.resize(n), z_.resize(std::max(m, n)), at_.resize(n), order_.resize(n), children_.resize(n);
    work_.resize(static_cast<std::size_t>(order_work(m_, n_)));
    labels_.resize(static_cast<std::size_t>(view.streams));
    for (index_t j = 0; j < n_; ++j) {
      int mask = 0;
      for (int k = 0; k < view.columns[j].count; ++k) mask |= view.points[view.columns[j].first + k].label;
      masks_.push_back(mask);
    }
  }

  void channel(const Complex<T>* h) {
    view_.h = h;
    facts_ = prepare_channel<F>(view_, choice_, a_.data(), tau_.data(), work_.data(), OrderOf{order_.data(), 1});
  }
  int exponent() const { return facts_.exponent; }

  void receive(const Complex<T>* y) {
    const Scale<T> scale(facts_.exponent);
    std::fill(z_.begin(), z_.end(), number<F>(0));
    for (index_t i = 0; i < view_.antennas; ++i) {
      const Complex<T> x = scale(y[i]);
      if constexpr (NumberOf<F>::complex)
        z_[static_cast<std::size_t>(i)] = x;
      else
        z_[static_cast<std::size_t>(i)] = x.re, z_[static_cast<std::size_t>(i + view_.antennas)] = x.im;
    }
    apply_adjoint(m_, n_, a_.data(), tau_.data(), z_.data());
    nodes_ = 0;
  }
  double nodes() const { return nodes_; }

  /// One search for all bits: a path is left when it can improve nothing any more.
  BitDistances all_bits() {
    best_ = far;
    nearest_.assign(labels_.size(), 0);
    counter_.clear();
    for (const int width : widths_) counter_.emplace_back(static_cast<std::size_t>(width), far);
    together(n_ - 1, 0);
    BitDistances found(widths_);
    for (std::size_t j = 0; j < widths_.size(); ++j)
      for (int bit = 0; bit < widths_[j]; ++bit) {
        const int value = (nearest_[j] >> bit) & 1;
        found.of[value][j][static_cast<std::size_t>(bit)] = best_;
        found.of[1 - value][j][static_cast<std::size_t>(bit)] = counter_[j][static_cast<std::size_t>(bit)];
      }
    return found;
  }

  /// A search for each value of each bit.
  BitDistances each_bit() {
    BitDistances found(widths_);
    for (std::size_t j = 0; j < widths_.size(); ++j)
      for (int bit = 0; bit < widths_[j]; ++bit)
        for (int value = 0; value < 2; ++value) {
          best_ = far;
          wanted_ = {static_cast<index_t>(j), 1 << bit, value << bit};
          alone(n_ - 1, 0);
          found.of[value][j][static_cast<std::size_t>(bit)] = best_;
        }
    return found;
  }

 private:
  struct Child {
    double distance;
    int k;
  };
  struct Wanted {
    index_t stream;
    int mask, value;
  };

  index_t stream_of(index_t column) const { return column < view_.streams ? column : column - view_.streams; }
  F amplitude(index_t column, int k) const {
    const SearchColumn& c = view_.columns[column];
    if constexpr (NumberOf<F>::complex) {
      const SearchPoint& p = view_.points[c.first + k];
      return {static_cast<T>(p.re), static_cast<T>(p.im)};
    } else {
      return static_cast<T>(c.low + k * c.step);
    }
  }
  int label(index_t column, int k) const { return view_.points[view_.columns[column].first + k].label; }

  /// The children of level i in order of distance.
  std::vector<Child>& open(index_t i) {
    const auto row = [&](index_t j) { return i < m_ ? a_[static_cast<std::size_t>(i + j * m_)] : number<F>(0); };
    F left = z_[static_cast<std::size_t>(i)];
    for (index_t j = i + 1; j < n_; ++j)
      left -= row(j) * amplitude(order_[static_cast<std::size_t>(j)], at_[static_cast<std::size_t>(j)]);
    auto& children = children_[static_cast<std::size_t>(i)];
    children.clear();
    const index_t column = order_[static_cast<std::size_t>(i)];
    for (int k = 0; k < view_.columns[column].count; ++k)
      children.push_back({static_cast<double>(norm(left - row(i) * amplitude(column, k))), k});
    std::sort(children.begin(), children.end(), [](const Child& p, const Child& q) { return p.distance < q.distance; });
    return children;
  }

  /// The largest distance that a leaf below this path, decided from level i up, could still make smaller.
  double most(index_t i) const {
    double limit = best_;
    for (index_t level = 0; level < n_; ++level) {
      const index_t column = order_[static_cast<std::size_t>(level)], stream = stream_of(column);
      const auto j = static_cast<std::size_t>(stream);
      int bits = masks_[static_cast<std::size_t>(column)];
      if (level >= i) bits &= label(column, at_[static_cast<std::size_t>(level)]) ^ nearest_[j];
      for (int bit = 0; bits != 0; ++bit, bits >>= 1)
        if ((bits & 1) != 0) limit = std::max(limit, counter_[j][static_cast<std::size_t>(bit)]);
    }
    return limit;
  }

  void together(index_t i, double before) {
    if (i < 0) return take_leaf_of_all(before);
    for (const Child& child : open(i)) {
      const double distance = before + child.distance;
      if (distance >= most(n_)) return;  // of any path
      at_[static_cast<std::size_t>(i)] = child.k;
      if (distance >= most(i)) continue;
      ++nodes_;
      together(i - 1, distance);
    }
  }

  void take_leaf_of_all(double distance) {
    std::fill(labels_.begin(), labels_.end(), 0);
    for (index_t level = 0; level < n_; ++level) {
      const index_t column = order_[static_cast<std::size_t>(level)];
      labels_[static_cast<std::size_t>(stream_of(column))] |= label(column, at_[static_cast<std::size_t>(level)]);
    }
    const bool nearer = distance < best_;
    for (std::size_t j = 0; j < labels_.size(); ++j)
      for (int bit = 0; bit < widths_[j]; ++bit) {
        if (((labels_[j] ^ nearest_[j]) >> bit & 1) == 0) continue;
        double& counter = counter_[j][static_cast<std::size_t>(bit)];
        counter = nearer ? best_ : std::min(counter, distance);
      }
    if (nearer) best_ = distance, nearest_ = labels_;
  }

  void alone(index_t i, double before) {
    if (i < 0) {
      best_ = std::min(best_, before);
      return;
    }
    const index_t column = order_[static_cast<std::size_t>(i)];
    const int mask = stream_of(column) == wanted_.stream ? masks_[static_cast<std::size_t>(column)] & wanted_.mask : 0;
    for (const Child& child : open(i)) {
      if (before + child.distance >= best_) return;
      if (mask != 0 && (label(column, child.k) & mask) != wanted_.value) continue;
      ++nodes_;
      at_[static_cast<std::size_t>(i)] = child.k;
      alone(i - 1, before + child.distance);
    }
  }

  ChannelView<T> view_;
  OrderChoice choice_;
  std::vector<int> widths_;
  index_t m_, n_;
  ChannelFacts facts_{};
  std::vector<F> a_, tau_, z_, work_;
  std::vector<int> at_, order_, masks_, labels_, nearest_;
  std::vector<std::vector<Child>> children_;
  std::vector<std::vector<double>> counter_;
  double best_ = far, nodes_ = 0;
  Wanted wanted_{};
};

/// Every candidate of complex form: f(labels, square distance in the units of `scale`).
template <class T, class F>
void for_each_candidate(const ChannelView<T>& view, const Complex<T>* y, const Scale<double>& scale, F f) {
  Complex<double> s[most_streams];
  int at[most_streams] = {}, labels[most_streams];
  for (index_t j = 0; j >= 0;) {
    for (j = 0; j < view.streams; ++j) {
      const SearchPoint& p = view.points[view.columns[j].first + at[j]];
      s[j] = {p.re, p.im}, labels[j] = p.label;
    }
    const double d = distance_of(view, y, scale, s);
    f(labels, d * d);
    for (j = view.streams - 1; j >= 0 && ++at[j] == view.columns[j].count; --j) at[j] = 0;
  }
}

/// ln(sum of e^x) as terms come.
struct LogSum {
  double largest = -far, sum = 0;
  void add(double x) {
    if (x > largest)
      sum = sum * std::exp(largest - x) + 1, largest = x;
    else
      sum += std::exp(x - largest);
  }
  double value() const { return largest + std::log(sum); }
};

template <class T>
class Soft {
 public:
  Soft(const typename SoftDetector<T>::Args& args, const ChannelView<T>& view, std::vector<int> widths)
      : args_(args), view_(view), widths_(std::move(widths)) {}

  /// L of the bits, from distances in units of 2^exponent.
  void give(const BitDistances& d, int exponent, T* llrs) const {
    const Scale<double> scale(exponent);
    const double n0 = scale(scale(args_.n0));
    for_each_bit([&](std::size_t j, std::size_t bit, index_t place) {
      llrs[place] = cut((d.of[1][j][bit] - d.of[0][j][bit]) / n0);
    });
  }

  double all_candidates(const Complex<T>* y, T* llrs) const {
    const Scale<double> one(0);
    double count = 0;
    std::vector<LogSum> sums[2];
    BitDistances least(widths_);
    for (auto& s : sums) s.resize(static_cast<std::size_t>(bits()));
    for_each_candidate(view_, y, one, [&](const int* labels, double square) {
      ++count;
      for_each_bit([&](std::size_t j, std::size_t bit, index_t place) {
        const int value = (labels[j] >> bit) & 1;
        double& d = least.of[value][j][bit];
        d = std::min(d, square);
        if (args_.kind == SoftKind::app) sums[value][static_cast<std::size_t>(place)].add(-square / args_.n0);
      });
    });
    if (args_.kind != SoftKind::app)
      give(least, 0, llrs);
    else
      for (index_t k = 0; k < bits(); ++k)
        llrs[k] = cut(sums[0][static_cast<std::size_t>(k)].value() - sums[1][static_cast<std::size_t>(k)].value());
    return count;
  }

  double linear(const Complex<T>* y, T* llrs) const {
    const index_t m = view_.antennas, n = view_.streams;
    using Number = Complex<double>;
    T largest = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) largest = std::max(largest, size_of(view_.h[i + j * view_.ld]));
    const int exponent = exponent_of(largest);
    const Scale<double> scale(exponent);
    const double n0 = scale(scale(args_.n0));
    std::vector<Number> h, c(static_cast<std::size_t>(n * n)), matched(static_cast<std::size_t>(n));
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) {
        const Complex<T> x = view_.h[i + j * view_.ld];
        h.push_back(scale(Number{x.re, x.im}));
        matched[static_cast<std::size_t>(j)] += conj(h.back()) * scale(Number{y[i].re, y[i].im});
      }
    inverse_gram(m, n, h.data(), n0, c.data());
    BitDistances d(widths_);
    for (index_t j = 0; j < n; ++j) {
      Number x{};
      for (index_t k = 0; k < n; ++k)
        x += c[static_cast<std::size_t>(j + k * n)] * matched[static_cast<std::size_t>(k)];
      const double bias = 1 - n0 * c[static_cast<std::size_t>(j + j * n)].re;
      for (int k = 0; k < view_.columns[j].count; ++k) {
        const SearchPoint& p = view_.points[view_.columns[j].first + k];
        // |x / bias - s|^2 in noise of (1 - bias) / bias, in units of n0.
        const double square = bias > 0 ? norm(x - Number{bias * p.re, bias * p.im}) / bias / (1 - bias) * args_.n0 : 0;
        for (int bit = 0; bit < widths_[static_cast<std::size_t>(j)]; ++bit) {
          double& least = d.of[p.label >> bit & 1][static_cast<std::size_t>(j)][static_cast<std::size_t>(bit)];
          least = std::min(least, square);
        }
      }
    }
    give(d, 0, llrs);
    return static_cast<double>(n);
  }

  void channel(const Complex<T>* h) { view_.h = h; }

 private:
  index_t bits() const {
    index_t sum = 0;
    for (const int width : widths_) sum += width;
    return sum;
  }
  T cut(double l) const { return static_cast<T>(args_.clip > 0 ? std::clamp(l, -args_.clip, args_.clip) : l); }
  template <class G>
  void for_each_bit(G g) const {
    index_t place = 0;
    for (std::size_t j = 0; j < widths_.size(); ++j)
      for (int bit = widths_[j]; bit-- > 0;) g(j, static_cast<std::size_t>(bit), place++);
  }

  typename SoftDetector<T>::Args args_;
  ChannelView<T> view_;
  std::vector<int> widths_;
};

template <class F, class T>
void detect(const typename SoftDetector<T>::Args& args, const Block<const std::complex<T>>& h,
            const Block<const std::complex<T>>& y, const ChannelView<T>& view, const Block<T>& llrs,
            const Block<double>& nodes) {
  std::vector<int> sizes(static_cast<std::size_t>(args.streams), 1), widths;
  const index_t columns = view.template cols<F>();
  for (index_t j = 0; j < columns; ++j) sizes[static_cast<std::size_t>(j % args.streams)] *= view.columns[j].count;
  for (const int size : sizes) widths.push_back(static_cast<int>(std::lround(std::log2(size))));
  Soft<T> soft(args, view, widths);
  SoftTree<F> tree(view, {args.order, GradientAt::zero, true, args.n0}, widths);
  const bool searches = args.kind == SoftKind::sts || args.kind == SoftKind::rts;
  for (index_t k = 0; k < y.cols; ++k) {
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    if (k % args.coherence == 0) {
      const auto* const one = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
      soft.channel(one);
      if (searches) tree.channel(one);
    }
    if (searches) {
      tree.receive(signal);
      soft.give(args.kind == SoftKind::sts ? tree.all_bits() : tree.each_bit(), tree.exponent(), &llrs(0, k));
      nodes(0, k) = tree.nodes();
    } else {
      nodes(0, k) =
          args.kind == SoftKind::mmse ? soft.linear(signal, &llrs(0, k)) : soft.all_candidates(signal, &llrs(0, k));
    }
  }
}

}  // namespace
}  // namespace mimo

template <class T>
void SoftDetector<T>::cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                          In<SearchPoint> points, Out<T> llrs, Out<double> nodes) {
  const mimo::ChannelView<T> view{h.rows, args.streams, nullptr, h.ld, columns.data, points.data};
  if (args.real_form)
    mimo::detect<T>(args, h, y, view, Block<T>(llrs), Block<double>(nodes));
  else
    mimo::detect<mimo::Complex<T>>(args, h, y, view, Block<T>(llrs), Block<double>(nodes));
}

template struct SoftDetector<float>;
template struct SoftDetector<double>;

}  // namespace tesela::kernels
