#pragma once

#include "interfaces/python/part.hpp"
#include <tesela/algorithms/eigen/eigen_range.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

namespace tesela::python {

/// SciPy's subset_by_index, with both ends inclusive. Throws ValueError outside 0 ... n - 1.
using ByIndex = std::optional<std::array<index_t, 2>>;
inline std::optional<IndexRange> positions_of(const ByIndex& subset, index_t n) {
  if (!subset) return std::nullopt;
  const auto [low, high] = *subset;
  if (low < 0 || high < low || high >= n) throw nb::value_error("subset_by_index must be 0 <= low <= high < n");
  return IndexRange{low, high + 1};
}

/// SciPy's subset_by_value, (low, high], as [low, high). Throws ValueError unless low < high.
struct Values {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
using ByValue = std::optional<std::array<double, 2>>;
inline Values values_of(const ByValue& subset) {
  Values values;
  if (!subset) return values;
  if (!((*subset)[0] < (*subset)[1])) throw nb::value_error("subset_by_value must be low < high");
  // -infinity stays -infinity, so that eigenvalues that overflow are reported.
  if ((*subset)[0] > values.low) values.low = std::nextafter((*subset)[0], values.high);
  if ((*subset)[1] < values.high) values.high = std::nextafter((*subset)[1], values.high);
  return values;
}

inline void require_one_subset(const ByIndex& by_index, const ByValue& by_value) {
  if (by_index && by_value) throw nb::value_error("subset_by_index and subset_by_value exclude each other");
}

}  // namespace tesela::python
