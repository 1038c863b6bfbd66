#include <tesela/algorithms/least_squares/internal/scaled_rows.hpp>
#include <tesela/runtime/shortest.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tesela::detail {

template <class T>
RowClasses<T> row_classes(const std::vector<T>& scales) {
  constexpr int width = class_width<T>;
  RowClasses<T> result;
  int most = std::numeric_limits<int>::min();
  for (const T scale : scales)
    if (scale > T(0)) most = std::max(most, std::ilogb(scale));
  // class of the largest scales is 0
  const auto class_of = [&](T scale) { return (most - std::ilogb(scale)) / width; };
  std::map<int, index_t> found;
  for (const T scale : scales)
    if (scale > T(0)) found.emplace(class_of(scale), 0);
  for (auto& [number, column] : found) {
    column = static_cast<index_t>(result.exponents.size());
    result.exponents.push_back(most + 1 - width * number);
  }
  result.factors =
      HostMatrix<T>::zeros(static_cast<index_t>(scales.size()), static_cast<index_t>(result.exponents.size()));
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (!(scales[i] > T(0))) continue;
    const index_t column = found[class_of(scales[i])];
    result.factors(static_cast<index_t>(i), column) =
        std::ldexp(scales[i], -result.exponents[static_cast<std::size_t>(column)]);
    ++result.counted;
  }
  return result;
}

template <class T>
RowClasses<T> weight_classes(const char* routine, const std::vector<T>& weights) {
  std::vector<T> roots(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= T(0)) || !std::isfinite(weights[i]))
      throw ArgumentError(routine, "weights",
                          "row " + std::to_string(i + 1) + " has weight " + shortest(weights[i]) +
                              "; weights must be finite and not negative");
    roots[i] = std::sqrt(weights[i]);
  }
  return row_classes(roots);
}

TESELA_FUNCTIONS_FOR_REALS(row_classes, weight_classes)

}  // namespace tesela::detail
