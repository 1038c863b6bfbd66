#pragma once

#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/linear_estimate_body.hpp>
#include <tesela/codelets/mimo/internal/soft_tree.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

// Paths that a detector keeps of a channel's tree, in complex form. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Factorization Q R = [H; alpha I] P, scaled, alpha = 0 without the lower part; and data for slicing.
template <class T>
struct Factors {
  index_t m = 0, n = 0;
  T alpha2 = 0;
  std::vector<Complex<T>> a, tau;
  std::vector<int> order;
  std::vector<T> spread, square;  ///< of estimates: ((H^H H + alpha^2 I)^-1)(j, j), and columns' squares, by streams
  bool singular = false;
  T largest = 0, lost = 0;  ///< of R; pivots up to `lost` count as lost

  /// Returns the factor of stream j in mmse's estimate of it.
  T bias(std::size_t j) const { return 1 - alpha2 * spread[j]; }

  /// Returns the first level whose column depends on the earlier ones, or n.
  index_t first_dependent() const {
    index_t k = 0;
    while (k < n && size_of(r(k, k)) > lost) ++k;
    return k;
  }
  Complex<T> r(index_t i, index_t j) const { return i < m ? a[static_cast<std::size_t>(i + j * m)] : Complex<T>{}; }
};

/// The linear estimate of a signal, by streams, and the norm of its residual of [y; 0].
template <class T>
struct Estimate {
  std::vector<Complex<T>> x;
  T residual = 0;

  /// Returns hidden_by_rounding() for an estimate with spreads; `point` is the stream's largest point times its bias.
  bool lost(const Factors<T>& f, std::size_t stream, double point) const {
    double most = 0, reach = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      most = std::max(most, f.square[k] * f.spread[k]);
      reach += f.square[k] * norm(x[k]);
    }
    return hidden_by_rounding(f.spread[stream], most, residual, std::sqrt(reach), point);
  }
};

/// Extension of path `from` by point k. Ordered by distance, then by position.
template <class T>
struct Child {
  T distance;
  index_t from;
  int k;
  bool operator<(const Child& other) const {
    if (distance != other.distance) return distance < other.distance;
    return from != other.from ? from < other.from : k < other.k;
  }
};

/// Paths down to some level, side by side.
template <class T>
struct PathSet {
  std::vector<T> distance;
  std::vector<int> at;           ///< indices of points, levels x paths
  std::vector<Complex<T>> left;  ///< residuals of z, levels x paths
  std::size_t count() const { return distance.size(); }
};

template <class T>
class Paths {
 public:
  using Number = Complex<T>;
  explicit Paths(ChannelView<T> view) : view_(view) {}

  const ChannelView<T>& view() const { return view_; }
  int exponent() const { return facts_.exponent; }
  T scaled_n0(double n0) const { return scaled_noise<T>(n0, facts_.exponent); }
  /// Returns ||y|| plus the largest ||H s||, scaled.
  double reach() const { return static_cast<double>(size_) + facts_.reach; }
  const std::vector<Number>& h() const { return h_; }
  const std::vector<Number>& y() const { return y_; }

  /// unit: size of other terms that are added to distances, or 0; all is scaled down so that T has room for many of
  /// them.
  void channel(const Number* h, double unit = 0) {
    view_.h = h;
    const index_t m = view_.antennas, n = view_.streams;
    h_.resize(static_cast<std::size_t>(m * n));
    facts_ = load_channel<Number>(view_, h_.data());
    if (const int missing = missing_exponent<T>(unit, facts_.exponent); missing > 0) {
      const Scale<T> down(missing);
      for (Number& x : h_) x = down(x);
      facts_.exponent += missing;
    }
    facts_.reach = 0;
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t i = 0; i < m; ++i) sum += static_cast<double>(norm(h_[static_cast<std::size_t>(i + j * m)]));
      facts_.reach += std::sqrt(sum) * view_.columns[j].largest;
    }
  }

  std::vector<int> ordered(ColumnOrder kind, bool up, double n0) {
    const index_t m = view_.antennas, n = view_.streams;
    std::vector<int> order(static_cast<std::size_t>(n));
    std::vector<Number> work(static_cast<std::size_t>(order_work(m, n)));
    order_columns(kind, up, m, n, h_.data(), scaled_n0(n0), work.data(), OrderOf{order.data(), 1});
    return order;
  }

  /// Returns the trees of kbest and nway: one tree, or for nway one per stream, with that stream last.
  std::vector<Factors<T>> trees(MimoMethod kind, ColumnOrder order, bool up, double n0) {
    std::vector<Factors<T>> all;
    if (kind != MimoMethod::nway) {
      all.push_back(factor(ordered(order, up, n0), 0, false));
      return all;
    }
    for (index_t j = 0; j < view_.streams; ++j) all.push_back(tree_before(static_cast<int>(j)));
    return all;
  }

  /// Returns the tree with stream `last` last and the others in the order of sqrd, but with dependent columns just
  /// before `last`: their rows of R, whose pivots are lost, would hide from other streams the values that slice them.
  Factors<T> tree_before(int last) const {
    std::vector<int> order = sorted_before(last);
    Factors<T> f = factor(order, 0, false);
    for (index_t end = f.n - 1, k = 0; f.singular && (k = f.first_dependent()) < std::min(end, view_.antennas); --end) {
      std::rotate(order.begin() + k, order.begin() + k + 1, order.begin() + end);
      f = factor(order, 0, false);
    }
    return f;
  }
  /// Returns this order without the change for dependent columns.
  std::vector<int> sorted_before(int last) const {
    const index_t m = view_.antennas, others = view_.streams - 1;
    std::vector<Number> h = h_, work(static_cast<std::size_t>(order_work(m, others)));
    h.erase(h.begin() + last * m, h.begin() + (last + 1) * m);
    std::vector<int> order(static_cast<std::size_t>(others));
    order_columns(ColumnOrder::sqrd, true, m, others, h.data(), T(0), work.data(), OrderOf{order.data(), 1});
    for (int& k : order) k += k >= last ? 1 : 0;
    order.push_back(last);
    return order;
  }

  /// rounding: of the original numbers of H; columns are dependent if rounding hides their independence.
  Factors<T> factor(const std::vector<int>& order, T alpha2, bool with_spread,
                    double rounding = std::numeric_limits<T>::epsilon()) const {
    const index_t rows = view_.antennas, n = view_.streams, m = alpha2 > 0 ? rows + n : rows;
    Factors<T> f{m,
                 n,
                 alpha2,
                 std::vector<Number>(static_cast<std::size_t>(m * n)),
                 std::vector<Number>(static_cast<std::size_t>(n)),
                 order,
                 {},
                 {},
                 m < n};
    for (index_t k = 0; k < n; ++k)
      for (index_t i = 0; i < m; ++i) {
        Number& x = f.a[static_cast<std::size_t>(i + k * m)];
        x = i < rows ? h_[static_cast<std::size_t>(i + order[static_cast<std::size_t>(k)] * rows)]
                     : Number{i - rows == k ? std::sqrt(alpha2) : T(0), 0};
      }
    reflect(m, n, f.a.data(), f.tau.data(), nullptr, 0, false);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) f.largest = std::max(f.largest, size_of(f.r(i, j)));
    f.lost = 8 * static_cast<T>(n) * static_cast<T>(rounding) * f.largest;
    f.singular = f.singular || f.first_dependent() < n;
    if (with_spread && !f.singular) spread(f);
    return f;
  }

  void receive(const Number* y) {
    const Scale<T> scale(facts_.exponent);
    size_ = 0;
    y_.clear();
    for (index_t i = 0; i < view_.antennas; ++i) y_.push_back(scale(y[i])), size_ += norm(y_.back());
    size_ = std::sqrt(size_);
  }

  /// Returns Q^H y.
  std::vector<Number> rotated(const Factors<T>& f) const {
    std::vector<Number> z = y_;
    z.resize(static_cast<std::size_t>(f.m));
    apply_adjoint(f.m, f.n, f.a.data(), f.tau.data(), z.data());
    z.resize(static_cast<std::size_t>(std::max(f.m, f.n)));
    return z;
  }

  /// Returns the square of the part of z = Q^H y that no s can change.
  static T left_over(const Factors<T>& f, const std::vector<Number>& z) {
    T sum = 0;
    for (auto i = static_cast<std::size_t>(f.n); i < z.size(); ++i) sum += norm(z[i]);
    return sum;
  }

  Estimate<T> estimate(const Factors<T>& f) const {
    const std::vector<Number> z = rotated(f);
    const auto n = static_cast<std::size_t>(f.n);
    std::vector<Number> x(n), of_streams(n);
    for (std::size_t i = n; i-- > 0;) {
      Number left = z[i];
      for (std::size_t j = i + 1; j < n; ++j) left -= f.r(index_t(i), index_t(j)) * x[j];
      const Number r = f.r(index_t(i), index_t(i));
      x[i] = left * conj(r) / norm(r);
      of_streams[static_cast<std::size_t>(f.order[i])] = x[i];
    }
    return {std::move(of_streams), std::sqrt(left_over(f, z))};
  }

  const SearchPoint& point(index_t stream, int k) const { return view_.points[view_.columns[stream].first + k]; }
  Number value(index_t stream, int k) const {
    const SearchPoint& p = point(stream, k);
    return {static_cast<T>(p.re), static_cast<T>(p.im)};
  }
  /// Returns the point a with the least |left - r a|, the first in a tie.
  int slice(index_t stream, Number left, Number r) const {
    int best = 0;
    for (int k = 1; k < view_.columns[stream].count; ++k)
      if (nearer(left, r * value(stream, best), r * value(stream, k))) best = k;
    return best;
  }

  /// Extends paths level by level and keeps the nearest `keep`. In the first `full` levels it keeps all paths, and then
  /// one child of each. whole: distances include the part that no s can change, which depends on the order if columns
  /// are dependent.
  PathSet<T> paths(const Factors<T>& f, index_t full, std::size_t keep, long long& nodes,
                   const Penalties<T>* penalties = nullptr, bool whole = false) const {
    const auto n = static_cast<std::size_t>(f.n);
    PathSet<T> now{{0}, std::vector<int>(n), rotated(f)}, next;
    if (whole) now.distance[0] = left_over(f, now.left);
    now.left.resize(n);
    std::vector<Child<T>> children;
    std::vector<Number> gone;  // contributions of points to a level
    for (std::size_t i = n; i-- > 0;) {
      const auto level = static_cast<index_t>(i);
      const index_t stream = f.order[i];
      const Number r = f.r(level, level);
      const bool all = f.n - 1 - level < full || (full == 0 && keep > 1);
      const int points = view_.columns[stream].count;
      children.clear(), gone.clear();
      for (int k = 0; k < points; ++k) gone.push_back(r * value(stream, k));
      for (std::size_t p = 0; p < now.count(); ++p) {
        const Number left = now.left[i + n * p];
        Child<T> nearest{0, static_cast<index_t>(p), -1};
        T least = 0;
        for (int k = 0; k < points; ++k) {
          T d = norm(left - gone[static_cast<std::size_t>(k)]);
          if (penalties != nullptr) d += static_cast<T>((*penalties)(stream, k));
          const Child<T> child{now.distance[p] + d, nearest.from, k};
          if (all)
            children.push_back(child);
          else if (k == 0 || d < least)
            nearest = child, least = d;
        }
        if (!all) children.push_back(nearest);
      }
      nodes += static_cast<long long>(children.size());
      if (full == 0 && children.size() > keep) {
        std::nth_element(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(keep - 1), children.end());
        children.resize(keep);
        std::sort(children.begin(), children.end());
      }
      next.distance.resize(children.size()), next.at.resize(n * children.size()), next.left.resize(n * children.size());
      for (std::size_t c = 0; c < children.size(); ++c) {
        const auto& [distance, path, k] = children[c];
        const auto from = static_cast<std::size_t>(path);
        const Number a = value(stream, k);
        next.distance[c] = distance;
        std::copy_n(&now.at[n * from], n, &next.at[n * c]);
        next.at[i + n * c] = k;
        for (std::size_t above = 0; above < i; ++above)
          next.left[above + n * c] = now.left[above + n * from] - f.r(static_cast<index_t>(above), level) * a;
      }
      std::swap(now, next);
    }
    return now;
  }

 private:
  /// Computes spreads from the rows of R^-1, which is computed column by column.
  void spread(Factors<T>& f) const {
    const auto n = static_cast<std::size_t>(f.n);
    f.spread.assign(n, 0), f.square.assign(n, 0);
    for (std::size_t c = 0; c < n; ++c) {
      std::vector<Number> x(n);
      for (std::size_t i = c + 1; i-- > 0;) {
        f.square[static_cast<std::size_t>(f.order[c])] += norm(f.r(index_t(i), index_t(c)));
        Number left{i == c ? T(1) : T(0), 0};
        for (std::size_t j = i + 1; j <= c; ++j) left -= f.r(index_t(i), index_t(j)) * x[j];
        const Number r = f.r(index_t(i), index_t(i));
        x[i] = left * conj(r) / norm(r);
        f.spread[static_cast<std::size_t>(f.order[i])] += norm(x[i]);
      }
    }
  }

  ChannelView<T> view_;
  ChannelFacts facts_{};
  std::vector<Number> h_, y_;
  T size_ = 0;
};

/// Chooses the nearest of some vectors in double; the lowest labels in a tie.
template <class T>
class PathChoice {
 public:
  /// `tree` must have received the signal.
  PathChoice(const Paths<T>& tree, const Complex<T>* signal) : tree_(tree), signal_(signal) {
    const double steps = static_cast<double>(tree.view().streams + 4);
    tie_ = 2 * steps * 2.3e-16 * tree.reach();
    slack_ = 4 * steps * static_cast<double>(std::numeric_limits<T>::epsilon()) * tree.reach();
  }
  /// Returns whether rounding could hide that a path of this square distance is as near as the one with the least
  /// distance.
  bool near(T least, T distance) const {
    return std::sqrt(static_cast<double>(distance)) <= std::sqrt(static_cast<double>(least)) + 2 * slack_;
  }
  /// at: indices of points, by streams.
  void take(const std::vector<int>& at) {
    const index_t n = tree_.view().streams;
    Complex<double> s[most_streams] = {};
    int labels[most_streams];
    for (index_t j = 0; j < n; ++j) {
      const SearchPoint& p = tree_.point(j, at[static_cast<std::size_t>(j)]);
      s[j] = {p.re, p.im}, labels[j] = p.label;
    }
    update_best(found_, distance_of(tree_.view(), signal_, Scale<double>(tree_.exponent()), s), tie_, n, labels, best_);
  }
  SearchReport give(long long nodes, int* labels) const {
    std::copy(best_, best_ + tree_.view().streams, labels);
    SearchReport report;
    report.distance = std::ldexp(found_.distance, tree_.exponent());
    report.nodes = nodes;
    return report;
  }

 private:
  const Paths<T>& tree_;
  const Complex<T>* signal_;
  double tie_, slack_;
  Found found_;
  int best_[most_streams] = {};
};

/// Detects in complex form, all signals of a channel together: level by level the `keep` nearest paths of each signal;
/// one matrix product subtracts four levels of all paths from the rows above.
template <class T>
void detect_breadth_first(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                          const Block<const std::complex<T>>& y, const ChannelView<T>& view, const Block<int>& labels,
                          const Block<SearchReport>& reports);

}  // namespace tesela::kernels::mimo
