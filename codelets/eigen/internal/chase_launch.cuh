#pragma once

#include <tesela/codelets/eigen/bulge_plan.hpp>

// Arguments of the kernels that chase bulges. Internal to codelets/eigen.

namespace tesela::kernels {

/// Columns of one tile of the band or of two neighbouring tiles; of one if `whole`.
template <class T>
struct DeviceBand {
  T *first, *second;
  index_t first_ld, second_ld, split;

  /// Returns the address of B(row, column).
  template <bool whole>
  __device__ T* at(index_t row, index_t column) const {
    if (whole || column < split) return first + column * first_ld + row;
    return second + column * second_ld + row;
  }
};

template <class T>
struct ChaseLaunch {
  BulgePlan plan;
  index_t group, window;
  DeviceBand<T> band;
  const T* before;
  index_t before_ld;
  T* reflectors;
  index_t reflectors_ld;
  void* messages;  ///< zeros: space for messages between thread blocks
};

/// Position of a hop in the band: E in rows row … and columns left …, D in rows and columns row ….
struct HopPosition {
  index_t row, left;
  int rows;
  bool first;  ///< hop 0: E is one column
  __device__ HopPosition(const BulgePlan& plan, index_t sweep, index_t k)
      : row(plan.row(sweep, k)),
        left(k > 0 ? row - plan.b : sweep),
        rows(static_cast<int>(plan.length(sweep, k))),
        first(k == 0) {}
  /// Returns whether E(i, j) is a zero that the band does not hold because no sweep has written it.
  __device__ bool is_zero(int i, int j, int b, bool first_sweep) const {
    return first ? j > 0 : first_sweep ? i > j : rows == b && i == b - 1 && j < b - 1;
  }
};

}  // namespace tesela::kernels
