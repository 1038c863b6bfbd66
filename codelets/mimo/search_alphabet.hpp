#pragma once

#include <cstdint>

namespace tesela::kernels {

/// What one column of a search multiplies: in real form `count` amplitudes low, low + step, … of points first …, in
/// complex form points first … of the list.
struct SearchColumn {
  int first = 0, count = 0;
  double low = 0, step = 0;
  double largest = 0;  ///< of their absolute values
};

/// What it adds to its stream's label, and in complex form the point itself.
struct SearchPoint {
  double re = 0, im = 0;
  int label = 0;
};

/// Which column a search decides first (the last one of the order) and which last.
enum class ColumnOrder : std::uint8_t {
  natural,
  norm,
  sqrd,
  vblast,
  mmse_sqrd,
  mmse_vblast,
  gradient,
  su_wassell,
  best
};

/// At which vector the gradient is taken.
enum class GradientAt : std::uint8_t { zero, babai, mmse };

/// How a search ended. The distance is ||y - H s||, in double.
struct SearchReport {
  static constexpr int uncertified = 1;  ///< stopped by max_nodes: s is the best found
  static constexpr int tie = 2;          ///< another vector is as near, as far as rounding can tell
  static constexpr int failed = 4;       ///< there is no answer; labels are -1
  static constexpr int not_finite = 8;   ///< of a tile's first: H or y has NaN or infinity there, and nobody looked on
  double distance = 0;
  long long nodes = 0;
  int flags = 0;
};

}  // namespace tesela::kernels
