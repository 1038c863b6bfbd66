#pragma once

#include "interfaces/python/part.hpp"
#include <tesela/algorithms/eigen/eigen_range.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <string>
#include <type_traits>

namespace tesela::python {

/// A parameter (low, high). Accepts any object, so that numbers() can name the parameter in its message.
template <class T>
struct Pair {
  nb::object given;

  /// Returns low and high. Throws TypeError unless they are a pair of numbers of type T.
  std::array<T, 2> numbers(const char* name) const {
    std::array<T, 2> result;
    if (nb::try_cast(given, result)) return result;
    throw nb::type_error((std::string(name) + " must be a pair (low, high) of " +
                          (std::is_integral_v<T> ? "integers" : "numbers") + ", not " + nb::repr(given).c_str())
                             .c_str());
  }
};
using ByIndex = std::optional<Pair<index_t>>;
using ByValue = std::optional<Pair<double>>;

/// Returns the range of low to high, both inclusive. Throws ValueError outside 0 ... n - 1.
inline IndexRange positions_of(index_t low, index_t high, index_t n, const char* name) {
  if (low < 0 || high < low || high >= n)
    throw nb::value_error((std::string(name) + " must be 0 <= low <= high < n = " + std::to_string(n) + ", not " +
                           std::to_string(low) + ", " + std::to_string(high))
                              .c_str());
  return {low, high + 1};
}

/// Returns SciPy's subset_by_index as positions.
inline std::optional<IndexRange> positions_of(const ByIndex& subset, index_t n) {
  if (!subset) return std::nullopt;
  const auto [low, high] = subset->numbers("subset_by_index");
  return positions_of(low, high, n, "subset_by_index");
}

struct Values {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
/// Returns SciPy's subset_by_value, (low, high], as [low, high). Throws ValueError unless low < high.
inline Values values_of(const ByValue& subset, const char* name = "subset_by_value") {
  Values values;
  if (!subset) return values;
  const auto [low, high] = subset->numbers(name);
  if (!(low < high)) throw nb::value_error((std::string(name) + " must be low < high").c_str());
  // -infinity stays -infinity, so that eigenvalues that overflow are reported.
  if (low > values.low) values.low = std::nextafter(low, values.high);
  if (high < values.high) values.high = std::nextafter(high, values.high);
  return values;
}

inline void require_one_subset(const ByIndex& by_index, const ByValue& by_value) {
  if (by_index && by_value) throw nb::value_error("subset_by_index and subset_by_value exclude each other");
}

/// Returns the positions of SciPy's select_range for select 'i'; empty for others.
inline std::optional<IndexRange> selected_positions(const std::string& select, const ByValue& range, index_t n) {
  if (select != "i") return std::nullopt;
  const auto [low, high] = range.value().numbers("select_range");
  if (low != std::floor(low) || high != std::floor(high))
    throw nb::type_error("select_range must be a pair of integers, the first and the last index");
  constexpr double most = 1e15;  // a number that index_t has
  return positions_of(static_cast<index_t>(std::clamp(low, -most, most)),
                      static_cast<index_t>(std::clamp(high, -most, most)), n, "select_range");
}

}  // namespace tesela::python

namespace nanobind::detail {

template <class T>
struct type_caster<tesela::python::Pair<T>> {
  NB_TYPE_CASTER(tesela::python::Pair<T>,
                 const_name("collections.abc.Sequence[") + make_caster<T>::Name + const_name("]"))

  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    value.given = borrow(src);
    return true;
  }
  static handle from_cpp(const tesela::python::Pair<T>& pair, rv_policy, cleanup_list*) noexcept {
    return handle(pair.given).inc_ref();
  }
};

}  // namespace nanobind::detail
