#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela::detail {

inline constexpr const char* overflow = "overflow: an eigenvalue is larger than the largest number";

/// Throws ArgumentError if low > high, or if one is NaN.
template <class Options>
void require_limits(const char* routine, const Options& o) {
  require(o.low <= o.high, routine, "low, high", shortest(o.low), ", ", shortest(o.high));
}

/// Throws ArgumentError for a selection outside a spectrum of n values. Options have `positions`, `low` and `high`.
template <class Options>
void require_selection(const char* routine, index_t n, const Options& o) {
  require(!o.positions || (o.positions->begin >= 0 && o.positions->end >= o.positions->begin && o.positions->end <= n),
          routine, "positions", o.positions->begin, " to ", o.positions->end, " of ", n);
  require_limits(routine, o);
}

/// Returns the options that select the same part of the spectrum of a tridiagonal matrix times 2^-exponent. Values that
/// these options select are in [low, high) after multiplication by 2^exponent.
template <class Options>
TridiagonalEigOptions scaled_selection(const Options& o, int exponent) {
  return {
      .range = o.positions, .low = scaled_up<double>(o.low, -exponent), .high = scaled_up<double>(o.high, -exponent)};
}

/// Moves finite values that rounding errors took out of [low, high) to the nearest number inside.
template <class T>
void move_inside(std::vector<T>& values, double low, double high) {
  const T least = scaled_up<T>(low, 0), beyond = scaled_up<T>(high, 0);
  const T most = std::isinf(beyond) ? beyond : std::nextafter(beyond, -std::numeric_limits<T>::infinity());
  for (T& value : values)
    if (!std::isinf(value)) value = std::min(std::max(value, least), most);
}

/// Sets the status `overflow` if a value is beyond the range of T, which is possible for finite elements.
template <class T>
void judge_size(SymmetricEig<T>& result) {
  using Verdict = SymmetricEigStatus::Verdict;
  const bool over = std::any_of(result.values.begin(), result.values.end(), [](double value) {
    return !(std::abs(value) <= static_cast<double>(std::numeric_limits<real_t<T>>::max()));
  });
  if (over && result.status.ok()) result.status.verdict = Verdict::overflow;
  if (!over && result.status.verdict == Verdict::overflow) result.status.verdict = Verdict::ok;
}

/// Sets spectrum, norm and the selected values from the spectrum of A 2^-exponent, ascending. Returns the selected
/// positions.
template <class T, class Options>
IndexRange select(SymmetricEig<T>& result, const std::vector<real_t<T>>& values, int exponent, const Options& o) {
  std::vector<double>& all = result.spectrum;
  all.clear();
  for (const real_t<T> value : values) all.push_back(std::ldexp(static_cast<double>(value), exponent));
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
