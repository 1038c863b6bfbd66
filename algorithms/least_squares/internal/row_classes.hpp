#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace tesela::detail {

/// Row i counts 2^exponents[k] factors(i, k) times, for the one k where that is not zero; in none if it does not count.
/// Classes descend, and within one factors differ by less than 2^8 (single: 2^4).
template <class T>
struct RowClasses {
  std::vector<int> exponents;
  HostMatrix<T> factors;  ///< m x classes
  index_t counted = 0;    ///< rows

  index_t classes() const { return factors.cols(); }
};

/// How many powers of two the factors of a class may be apart.
template <class T>
constexpr int class_width = std::is_same_v<T, float> ? 4 : 8;

/// By the square roots of weights. Throws ArgumentError for one that is negative or not finite.
template <class T>
RowClasses<T> weight_classes(const char* routine, const std::vector<T>& weights);

/// By what the rows are multiplied by, finite and not negative.
template <class T>
RowClasses<T> row_classes(const std::vector<T>& scales);

}  // namespace tesela::detail
