#pragma once

#include <tesela/codelets/mimo/choices.hpp>

namespace tesela::kernels {

/// Values of one column of a search: in real form `count` amplitudes low, low + step, … of points first …, in complex
/// form points first … of the list.
struct SearchColumn {
  int first = 0, count = 0;
  double low = 0, step = 0;
  double largest = 0;  ///< largest absolute value
};

/// A value's contribution to its stream's label, and in complex form the point itself.
struct SearchPoint {
  double re = 0, im = 0;  ///< real and imaginary part; in real form only `re`
  int label = 0;          ///< part of the label
};

/// Result of a search. The distance is ||y - H s||, in double.
struct SearchReport {
  static constexpr int uncertified = 1;  ///< stopped by max_nodes: s is the best vector found
  static constexpr int tie = 2;          ///< another vector is equally near, up to rounding
  static constexpr int failed = 4;       ///< no result; labels are -1
  static constexpr int not_finite = 8;   ///< first report of a tile: H or y has NaN or infinity; not searched
  double distance = 0;
  long long nodes = 0;  ///< number of visited children
  int flags = 0;        ///< sum of the flags above
};

}  // namespace tesela::kernels
