#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Which row an entry is annihilated against: the one above it, from the bottom of a column upwards, or the diagonal's,
/// downwards. All orders with the same pivots give the same rotations, whatever their stages.
enum class Pivot : std::uint8_t { adjacent, diagonal };

/// A block in memory by strides: a column-major tile (1, ld), its transpose (ld, 1), or a band (1, ld - 1).
template <class T>
struct Strided {
  T* data;
  index_t row_stride, column_stride;
  TESELA_BOTH T& operator()(index_t i, index_t j) const { return data[i * row_stride + j * column_stride]; }
};

/// The rotations of `width` neighbouring columns, of which column t has its diagonal in row begin + t, in wavefronts. A
/// window of `width` cells holds the rows that later rotations still need; rows stream through it, one a step:
///
///   for e = 0 … steps() - 1:
///     v = row in_row(e)
///     for t = 0 … cells(e) - 1: rotate v and cell t, which annihilates entry (zero_row(e, t), column t)
///     v rests in cell cells(e) when there is one, and otherwise is row out_row(e), final
///
/// It begins with rows first_row(t) in its first first_cells() cells and ends with row begin + t in cell t. So each
/// element of the other columns is read and written once for `width` rotations. With adjacent pivots rows come from
/// below, and `reach` (see GivensPanel) says how far below the diagonal the first one is.
struct GivensWindow {
  Pivot pivot = Pivot::adjacent;
  index_t begin = 0, m = 0, width = 0, reach = 0;

  TESELA_BOTH static GivensWindow make(Pivot pivot, index_t begin, index_t m, index_t width, index_t reach) {
    const index_t most = m - begin > 0 ? m - begin - 1 : 0;
    return {pivot, begin, m, width, pivot == Pivot::diagonal || reach > most ? most : reach};
  }
  TESELA_BOTH index_t rows() const { return m - begin; }
  TESELA_BOTH index_t steps() const { return reach; }
  TESELA_BOTH index_t up_to_width(index_t n) const { return n < width ? n : width; }
  /// How far below the diagonal the entries of step e are (adjacent pivots).
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
