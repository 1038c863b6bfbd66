#pragma once

#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

/// The largest bound of a relative error that says something about a result: one wrong in its second digit is none.
constexpr double useful_bound = 1e-2;

/// A measured error of a result, relative to the result's own scale, and the most that a good result may have.
struct Measured {
  double error = 0;
  double bound = 0;  ///< of rounding; above useful_bound no error is good, since the check cannot tell
  double cut = 0;    ///< what may be added to the bound: by how much a caller's rcond changed the problem

  double limit() const { return bound + cut; }
  bool useful() const { return bound <= useful_bound; }       ///< false for NaN
  bool good() const { return useful() && error <= limit(); }  ///< false for NaN
};

/// The most that rounding leaves in a backward stable result of a problem with so many rows and columns at most: 10
/// sqrt(size) eps, and useful_bound for sizes at which that would say nothing.
template <class T>
double rounding_bound(index_t size) {
  return std::min(10 * std::sqrt(static_cast<double>(std::max<index_t>(size, 1))) *
                      static_cast<double>(std::numeric_limits<T>::epsilon()),
                  useful_bound);
}

}  // namespace tesela
