#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Row against which an entry is annihilated: adjacent is the row above it, from the bottom of a column upwards;
/// diagonal is the diagonal's row, downwards. All orders with the same pivots give the same rotations, whatever their
/// stages.
enum class Pivot : std::uint8_t { adjacent, diagonal };

/// Block in memory by strides: a column-major tile (1, ld), its transpose (ld, 1), or a band (1, ld - 1).
template <class T>
struct Strided {
  T* data;                            ///< first element
  index_t row_stride, column_stride;  ///< distances of neighbours in a column and in a row, in elements
  /// Returns element (i, j).
  TESELA_BOTH T& operator()(index_t i, index_t j) const { return data[i * row_stride + j * column_stride]; }
};

/// The rotations of `width` neighbouring columns in wavefronts; column t has its diagonal in row begin + t. A window of
/// `width` cells holds the rows that later rotations still need; rows stream through it, one per step:
///
///   for e = 0 … steps() - 1:
///     v = row in_row(e)
///     for t = 0 … cells(e) - 1: rotate v and cell t, which annihilates entry (zero_row(e, t), column t)
///     v stays in cell cells(e) if that exists; otherwise it is the final row out_row(e)
///
/// The window starts with rows first_row(t) in its first first_cells() cells and ends with row begin + t in cell t.
/// Each element of the other columns is thus read and written once per `width` rotations. With adjacent pivots rows
/// enter from below, and `reach` (see GivensPanel) is the distance of the first row below the diagonal.
struct GivensWindow {
  Pivot pivot = Pivot::adjacent;
  index_t begin = 0, m = 0, width = 0, reach = 0;  ///< m: number of rows

  /// Returns the window for m rows; `reach` is limited to the rows below the diagonal.
  TESELA_BOTH static GivensWindow make(Pivot pivot, index_t begin, index_t m, index_t width, index_t reach) {
    const index_t most = m - begin > 0 ? m - begin - 1 : 0;
    return {pivot, begin, m, width, pivot == Pivot::diagonal || reach > most ? most : reach};
  }
  TESELA_BOTH index_t rows() const { return m - begin; }
  TESELA_BOTH index_t steps() const { return reach; }
  TESELA_BOTH index_t up_to_width(index_t n) const { return n < width ? n : width; }  ///< n, at most `width`
  /// Returns the distance below the diagonal of the entries of step e (adjacent pivots).
  TESELA_BOTH index_t distance(index_t e) const { return reach - e; }
  TESELA_BOTH index_t in_row(index_t e) const {
    return pivot == Pivot::adjacent ? begin + distance(e) - 1 : begin + 1 + e;
  }
  TESELA_BOTH index_t cells(index_t e) const {
    return up_to_width(pivot == Pivot::adjacent ? rows() - distance(e) : e + 1);
  }
  TESELA_BOTH index_t out_row(index_t e) const { return pivot == Pivot::adjacent ? in_row(e) + width : in_row(e); }
  TESELA_BOTH index_t zero_row(index_t e, index_t t) const {
    return pivot == Pivot::adjacent ? begin + distance(e) + t : in_row(e);
  }
  TESELA_BOTH index_t first_cells() const { return up_to_width(pivot == Pivot::adjacent ? rows() - reach : 1); }
  TESELA_BOTH index_t first_row(index_t t) const { return pivot == Pivot::adjacent ? begin + reach + t : begin; }
  TESELA_BOTH index_t last_cells() const { return up_to_width(rows()); }
};

}  // namespace tesela::kernels
