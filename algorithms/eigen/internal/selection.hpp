#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tesela::detail {

inline constexpr const char* overflow = "overflow: an eigenvalue is larger than the largest number";

/// Throws ArgumentError for a selection outside a spectrum of n values. Options have `positions`, `low` and `high`.
template <class Options>
void require_selection(const char* routine, index_t n, const Options& o) {
  require(!o.positions || (o.positions->begin >= 0 && o.positions->end >= o.positions->begin && o.positions->end <= n),
          routine, "positions", o.positions->begin, " to ", o.positions->end, " of ", n);
  require(o.low <= o.high, routine, "low, high", shortest(o.low), ", ", shortest(o.high));
}

/// Returns the selected positions of the spectrum of a tridiagonal matrix, which d and e hold times 2^-exponent, from
/// Sturm counts at the limits.
template <class T, class Options>
IndexRange selected_positions(std::span<const T> d, std::span<const T> e, int exponent, const Options& o) {
  const auto n = static_cast<index_t>(d.size());
  const auto below = [&](double x) {
    if (std::isinf(x)) return x > 0 ? n : index_t{0};
    return tridiagonal_count_below<T>(d, e, scaled_up<T>(x, -exponent));
  };
  IndexRange range = o.positions.value_or(IndexRange{0, n});
  range.begin = std::max(range.begin, below(o.low));
  range.end = std::max(range.begin, std::min(range.end, below(o.high)));
  return range;
}

/// Returns a value that Sturm counts place in [low, high), moved there if rounding errors took it out.
template <class T, class Options>
T inside(T value, const Options& o) {
  if (std::isinf(value)) return value;
  T low = static_cast<T>(o.low), high = static_cast<T>(o.high);
  if (static_cast<double>(low) < o.low) low = std::nextafter(low, std::numeric_limits<T>::infinity());
  if (!std::isinf(high) && static_cast<double>(high) >= o.high)
    high = std::nextafter(high, -std::numeric_limits<T>::infinity());
  return std::min(std::max(value, low), high);
}

/// Sets the status `overflow` if a value is beyond the range of T, which is possible for finite elements.
template <class T>
void judge_size(SymmetricEig<T>& result) {
  using Verdict = SymmetricEigStatus::Verdict;
  const bool over = std::any_of(result.values.begin(), result.values.end(), [](double value) {
    return !(std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max()));
  });
  if (over && result.status.ok()) result.status.verdict = Verdict::overflow;
  if (!over && result.status.verdict == Verdict::overflow) result.status.verdict = Verdict::ok;
}

/// Sets spectrum, norm and the selected values from the spectrum of A 2^-exponent, ascending. Returns the selected
/// positions.
template <class T, class Options>
IndexRange select(SymmetricEig<T>& result, const std::vector<T>& values, int exponent, const Options& o) {
  std::vector<double>& all = result.spectrum;
  all.clear();
  for (const T value : values) all.push_back(std::ldexp(static_cast<double>(value), exponent));
  if (!all.empty()) result.norm = std::max(std::abs(all.front()), std::abs(all.back()));
  const auto below = [&](double limit) {
    return static_cast<index_t>(std::lower_bound(all.begin(), all.end(), limit) - all.begin());
  };
  IndexRange range = o.positions.value_or(IndexRange{0, static_cast<index_t>(all.size())});
  range.begin = std::max(range.begin, below(o.low));
  if (o.high < std::numeric_limits<double>::infinity()) range.end = std::min(range.end, below(o.high));
  range.end = std::max(range.begin, range.end);
  result.first = range.begin;
  result.values.assign(all.begin() + range.begin, all.begin() + range.end);
  judge_size(result);
  return range;
}

}  // namespace tesela::detail
