#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/linear_estimate_body.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>

#include <algorithm>
#include <limits>
#include <vector>

// Prior and posterior likelihoods of bits in a search, and tree searches for them. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Returns the least increase of `exponent` for which sums of many penalties of this size, in units of 2^(2 exponent),
/// are in T's range.
template <class T>
int missing_exponent(double penalty, int exponent) {
  const int beyond = exponent_of(penalty) - 2 * exponent - std::numeric_limits<T>::max_exponent / 2;
  return penalty > 0 && beyond > 0 ? (beyond + 1) / 2 : 0;
}

inline constexpr double unreached = std::numeric_limits<double>::infinity();

/// Sum of e^((least - metric) / n0) over the metrics added so far.
struct LogSum {
  double least = unreached, sum = 0;
  void add(double metric, double n0) {
    if (metric < least)
      sum = sum * std::exp(over_noise(metric - least, n0)) + 1, least = metric;
    else
      sum += std::exp(over_noise(least - metric, n0));
  }
};

/// Returns ln of zero's sum over one's.
inline double likelihood_of(const LogSum& zero, const LogSum& one, double n0) {
  return over_noise(one.least - zero.least, n0) + std::log(zero.sum) - std::log(one.sum);
}

/// The least metric for each value of each bit of each stream.
struct BitDistances {
  std::vector<std::vector<double>> of[2];  ///< [value][stream][bit], bit 0 the least significant
  explicit BitDistances(const std::vector<int>& widths) {
    for (auto& value : of)
      for (const int width : widths) value.emplace_back(static_cast<std::size_t>(width), unreached);
  }
  /// Adds a candidate with these labels of streams.
  void take(const int* labels, double metric) {
    for (std::size_t j = 0; j < of[0].size(); ++j)
      for (std::size_t bit = 0; bit < of[0][j].size(); ++bit) {
        double& least = of[labels[j] >> bit & 1][j][bit];
        least = std::min(least, metric);
      }
  }
};

/// Prior penalties of the points: for each bit b, -ln P(b) minus the smaller -ln P of its two values, which is |L| if b
/// contradicts the sign of L, else 0. No path becomes shorter by another level.
template <class T>
class Penalties {
 public:
  Penalties(const ChannelView<T>& view, const std::vector<int>& widths, index_t columns) : view_(view) {
    index_t points = 0, bits = 0;
    std::vector<index_t> first;
    for (const int width : widths) first.push_back(bits), bits += width;
    for (index_t c = 0; c < columns; ++c) {
      const SearchColumn& column = view.columns[c];
      const auto stream = static_cast<std::size_t>(c % view.streams);
      int mask = 0;
      for (int k = 0; k < column.count; ++k) mask |= view.points[column.first + k].label;
      for (int bit = 0; bit < widths[stream]; ++bit)
        if ((mask >> bit & 1) != 0) bits_.push_back({c, bit, first[stream] + widths[stream] - 1 - bit});
      points = std::max<index_t>(points, column.first + column.count);
    }
    of_.assign(static_cast<std::size_t>(points), 0);
  }

  /// Receives L of all bits, by streams, the first bit first; `unit` is a penalty of 1 in the search's metric.
  void receive(const T* priors, double unit) {
    std::fill(of_.begin(), of_.end(), 0);
    for (const Bit& b : bits_) {
      const auto l = static_cast<double>(priors[b.place]);
      if (l == 0) continue;
      const SearchColumn& column = view_.columns[b.column];
      for (int k = column.first; k < column.first + column.count; ++k)
        if ((view_.points[k].label >> b.bit & 1) == (l > 0 ? 1 : 0))
          of_[static_cast<std::size_t>(k)] += std::fabs(l) * unit;
    }
  }
  /// Returns the penalties by the points' places in the list of all columns.
  const std::vector<double>& of_points() const { return of_; }
  double operator()(index_t column, int k) const {
    return of_[static_cast<std::size_t>(view_.columns[column].first) + static_cast<std::size_t>(k)];
  }

 private:
  struct Bit {
    index_t column;
    int bit;
    index_t place;
  };
  ChannelView<T> view_;
  std::vector<Bit> bits_;
  std::vector<double> of_;  ///< by points
};

/// A channel's tree and its searches. Metrics are square distances plus prior penalties of bits, both in the channel's
/// scaled units.
template <class F>
class SoftTree {
 public:
  using T = real_t<F>;
  SoftTree(ChannelView<T> view, const OrderChoice& choice, std::vector<int> widths)
      : view_(view),
        choice_(choice),
        widths_(std::move(widths)),
        m_(view.template rows<F>()),
        n_(view.template cols<F>()),
        penalties_(view, widths_, n_) {
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
    if (const int missing = missing_exponent<double>(choice_.n0, facts_.exponent); missing > 0) {
      const Scale<T> down(missing);
      for (index_t j = 0; j < n_; ++j)
        for (index_t i = 0; i <= std::min(j, m_ - 1); ++i) {
          F& x = a_[static_cast<std::size_t>(i + j * m_)];
          x = down(x);
        }
      facts_.exponent += missing;
    }
  }
  int exponent() const { return facts_.exponent; }

  /// priors: as in Penalties.
  void receive(const Complex<T>* y, const T* priors) {
    const Scale<double> exact(facts_.exponent);
    penalties_.receive(priors, exact(exact(choice_.n0)));
    const Scale<T> scale(facts_.exponent);
    std::fill(z_.begin(), z_.end(), number<F>(0));
    for (index_t i = 0; i < view_.antennas; ++i) {
      const Complex<T> x = scale(y[i]);
      if constexpr (is_complex<F>)
        z_[static_cast<std::size_t>(i)] = x;
      else
        z_[static_cast<std::size_t>(i)] = x.re, z_[static_cast<std::size_t>(i + view_.antennas)] = x.im;
    }
    apply_adjoint(m_, n_, a_.data(), tau_.data(), z_.data());
    nodes_ = 0;
  }
  double nodes() const { return nodes_; }

  /// Searches once for all bits: a path is abandoned when it cannot improve any bit.
  BitDistances all_bits() {
    best_ = unreached;
    nearest_.assign(labels_.size(), 0);
    counter_.clear();
    for (const int width : widths_) counter_.emplace_back(static_cast<std::size_t>(width), unreached);
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

  /// Uses only the `most` nearest leaves.
  BitDistances listed(std::size_t most) {
    leaves_.clear();
    collect(n_ - 1, 0, most);
    BitDistances found(widths_);
    for (const Leaf& leaf : leaves_) found.take(leaf.labels.data(), leaf.distance);
    return found;
  }

 private:
  struct Leaf {
    double distance;
    std::vector<int> labels;
    bool operator<(const Leaf& other) const { return distance < other.distance; }
  };
  struct Child {
    double distance;
    int k;
  };
  index_t stream_of(index_t column) const { return column < view_.streams ? column : column - view_.streams; }
  F amplitude(index_t column, int k) const {
    const SearchColumn& c = view_.columns[column];
    if constexpr (is_complex<F>) {
      const SearchPoint& p = view_.points[c.first + k];
      return {static_cast<T>(p.re), static_cast<T>(p.im)};
    } else {
      return static_cast<T>(c.low + k * c.step);
    }
  }
  int label(index_t column, int k) const { return view_.points[view_.columns[column].first + k].label; }

  /// Returns the children of level i, the least metric first.
  std::vector<Child>& open(index_t i) {
    const auto row = [&](index_t j) { return i < m_ ? a_[static_cast<std::size_t>(i + j * m_)] : number<F>(0); };
    F left = z_[static_cast<std::size_t>(i)];
    for (index_t j = i + 1; j < n_; ++j)
      left -= row(j) * amplitude(order_[static_cast<std::size_t>(j)], at_[static_cast<std::size_t>(j)]);
    auto& children = children_[static_cast<std::size_t>(i)];
    children.clear();
    const index_t column = order_[static_cast<std::size_t>(i)];
    for (int k = 0; k < view_.columns[column].count; ++k)
      children.push_back({static_cast<double>(norm(left - row(i) * amplitude(column, k))) + penalties_(column, k), k});
    std::sort(children.begin(), children.end(), [](const Child& p, const Child& q) { return p.distance < q.distance; });
    return children;
  }

  /// Returns the largest distance that a leaf below this path, decided from level i up, could still reduce.
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

  void read_labels() {
    std::fill(labels_.begin(), labels_.end(), 0);
    for (index_t level = 0; level < n_; ++level) {
      const index_t column = order_[static_cast<std::size_t>(level)];
      labels_[static_cast<std::size_t>(stream_of(column))] |= label(column, at_[static_cast<std::size_t>(level)]);
    }
  }

  void take_leaf_of_all(double distance) {
    read_labels();
    const bool nearer = distance < best_;
    for (std::size_t j = 0; j < labels_.size(); ++j)
      for (int bit = 0; bit < widths_[j]; ++bit) {
        if (((labels_[j] ^ nearest_[j]) >> bit & 1) == 0) continue;
        double& counter = counter_[j][static_cast<std::size_t>(bit)];
        counter = nearer ? best_ : std::min(counter, distance);
      }
    if (nearer) best_ = distance, nearest_ = labels_;
  }

  /// Collects leaves; the farthest kept leaf comes first.
  void collect(index_t i, double before, std::size_t most) {
    if (i < 0) {
      read_labels();
      leaves_.push_back({before, labels_});
      std::push_heap(leaves_.begin(), leaves_.end());
      if (leaves_.size() <= most) return;
      std::pop_heap(leaves_.begin(), leaves_.end());
      leaves_.pop_back();
      return;
    }
    for (const Child& child : open(i)) {
      const double distance = before + child.distance;
      if (leaves_.size() == most && distance >= leaves_.front().distance) return;
      ++nodes_;
      at_[static_cast<std::size_t>(i)] = child.k;
      collect(i - 1, distance, most);
    }
  }

  ChannelView<T> view_;
  OrderChoice choice_;
  std::vector<int> widths_;
  index_t m_, n_;
  Penalties<T> penalties_;
  ChannelFacts facts_{};
  std::vector<F> a_, tau_, z_, work_;
  std::vector<int> at_, order_, masks_, labels_, nearest_;
  std::vector<std::vector<Child>> children_;
  std::vector<std::vector<double>> counter_;
  std::vector<Leaf> leaves_;
  double best_ = unreached, nodes_ = 0;
};

}  // namespace tesela::kernels::mimo
