#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

/// Largest useful bound of a relative error: a result must have two correct digits.
constexpr double useful_bound = 1e-2;

/// A measured error of a result, relative to the result's scale, and the limit for a good result.
struct Measured {
  double error = 0;
  /// Bound of rounding errors; above useful_bound no error is good, because the check proves nothing.
  double bound = 0;
  double cut = 0;  ///< addition to the bound: the change of the problem by a given rcond

  double limit() const { return bound + cut; }
  bool useful() const { return bound <= useful_bound; }       ///< false for NaN
  bool good() const { return useful() && error <= limit(); }  ///< false for NaN
};

/// Returns the bound of rounding errors in a backward stable result, 10 sqrt(size) eps, at most useful_bound. `size` is
/// the larger of the problem's rows and columns.
template <class T>
double rounding_bound(index_t size) {
  return std::min(10 * std::sqrt(static_cast<double>(std::max<index_t>(size, 1))) *
                      static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
                  useful_bound);
}

}  // namespace tesela
