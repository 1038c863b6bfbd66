#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>
#include <tesela/codelets/mimo/internal/linear_bits_body.hpp>

#include <algorithm>
#include <limits>
#include <vector>

// Prior and posterior likelihoods of bits in a search. Internal to codelets/mimo.

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

}  // namespace tesela::kernels::mimo
