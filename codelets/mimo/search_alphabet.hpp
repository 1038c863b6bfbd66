#pragma once

#include <cstdint>

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
  double re = 0, im = 0;
  int label = 0;
};

/// Order of the columns in a search: the last column of the order is decided first.
enum class ColumnOrder : std::uint8_t {
  natural,      ///< as in H
  norm,         ///< ascending norms
  sqrd,         ///< sorted QR: the column with the smallest residual comes next
  vblast,       ///< the column that noise affects least comes last
  mmse_sqrd,    ///< sqrd of [H; sqrt(N0) I]
  mmse_vblast,  ///< vblast of [H; sqrt(N0) I]
  gradient,     ///< by |H^H (H s0 - y)|, for each signal
  su_wassell,   ///< the column whose second nearest hyperplane is farthest from y comes last, for each signal
  best          ///< every order of at most 8 columns; the one with the fewest nodes
};

/// Vector s0 at which the gradient is computed: zero, Babai's point, or the sliced linear estimate.
enum class GradientAt : std::uint8_t { zero, babai, mmse };

/// Result of a search. The distance is ||y - H s||, in double.
struct SearchReport {
  static constexpr int uncertified = 1;  ///< stopped by max_nodes: s is the best vector found
  static constexpr int tie = 2;          ///< another vector is equally near, up to rounding
  static constexpr int failed = 4;       ///< no result; labels are -1
  static constexpr int not_finite = 8;   ///< first report of a tile: H or y has NaN or infinity; not searched
  double distance = 0;
  long long nodes = 0;
  int flags = 0;
};

}  // namespace tesela::kernels
