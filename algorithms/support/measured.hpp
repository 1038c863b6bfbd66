#pragma once

#include <limits>

namespace tesela {

/// A measured error of a result, and the most that a good result may have.
struct Measured {
  double error = 0;
  double bound = std::numeric_limits<double>::infinity();
  bool good() const { return error <= bound; }  ///< false for NaN
};

}  // namespace tesela
