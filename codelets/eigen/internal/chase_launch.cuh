#pragma once

#include <tesela/codelets/eigen/bulge_plan.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/runtime/access.hpp>

#include <cstdint>
#include <span>

// Arguments of the kernels that chase bulges. Internal to codelets/eigen.

namespace tesela::kernels {

/// The band that a chase reduces. Hop k works on the blocks E and D of ChaseBulges, or on the adjoints of the blocks of
/// ChaseBidiagonal. E has one form: the previous hop's reflector is applied from the right, and the hop's reflector v
/// annihilates the first column and is applied from the left.
enum class BandKind : std::uint8_t {
  symmetric,  ///< D is symmetric or Hermitian. v is applied from both sides, and the next hop gets it
  upper       ///< v is applied to D from the left. The next hop gets u, which annihilates D's first row from the right
};

/// Columns of one tile of the band or of two neighbouring tiles; of one if `whole`.
template <class T>
struct DeviceBand {
  T *first, *second;
  index_t first_ld, second_ld, split;

  /// The first tile begins in column `column`; `diagonal` is the row of the main diagonal in the tiles.
  template <class E>
  DeviceBand(std::span<const InOut<E>> tiles, index_t column, index_t diagonal)
      : first(start_of(tiles.front(), column, diagonal)),
        second(start_of(tiles.back(), tiles.size() > 1 ? column + tiles.front().cols : column, diagonal)),
        first_ld(tiles.front().ld - 1),
        second_ld(tiles.back().ld - 1),
        split(column + tiles.front().cols) {}

  /// Returns the address of B(row, column), or of B(column, row) if the band is upper.
  template <bool whole, BandKind kind>
  __device__ T* at(index_t row, index_t column) const {
    if constexpr (kind == BandKind::upper) {
      const index_t swapped = row;
      row = column, column = swapped;
    }
    if (whole || column < split) return first + column * first_ld + row;
    return second + column * second_ld + row;
  }

 private:
  /// Returns the place of B(0, 0) if the columns before `column` were there.
  template <class E>
  static T* start_of(const InOut<E>& tile, index_t column, index_t diagonal) {
    return device_pointer(tile.data) + diagonal - column * tile.ld;
  }
};

/// T is the type of the elements in kernels.
template <class T>
struct ChaseLaunch {
  BulgePlan plan;
  index_t group, window;
  DeviceBand<T> band;
  const T* before;
  index_t before_ld;
  T* reflectors;  ///< of v, or for an upper band of u
  index_t reflectors_ld;
  T* others;  ///< for an upper band: of v
  index_t others_ld;
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
    return first ? j > 0 : is_room(i, j, b, first_sweep);
  }
  /// Returns whether D(i, j) is a zero that an upper band does not hold.
  __device__ bool is_zero_of_d(int i, int j, int b, bool first_sweep) const { return is_room(j, i, b, first_sweep); }

 private:
  __device__ bool is_room(int i, int j, int b, bool first_sweep) const {
    return first_sweep ? i > j : rows == b && i == b - 1 && j < b - 1;
  }
};

}  // namespace tesela::kernels
