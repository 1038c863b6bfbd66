// The columns of a band in tiles, for the chases of bulges. Guarded by Highway's toggle, like vectors_inl.hpp. Internal
// to codelets/eigen.
#include <tesela/codelets/eigen/internal/columns_inl.hpp>

#if defined(TESELA_EIGEN_BAND_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_BAND_COLUMNS_INL
#undef TESELA_EIGEN_BAND_COLUMNS_INL
#else
#define TESELA_EIGEN_BAND_COLUMNS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {

/// Columns of one tile of a band or of two neighbouring tiles: columns(j)[i] is B(i, j), whose diagonal is in row
/// `diagonal` of the tiles.
template <class T>
struct BandColumns {
  T *first, *second;
  index_t first_ld, second_ld, split;  // the second tile begins at column split

  /// `column` is the first column of the first tile.
  template <class Tile>
  BandColumns(std::span<const Tile> tiles, index_t column, index_t diagonal) {
    const auto at = [diagonal](const Tile& tile, index_t j) { return tile.data + diagonal - j * tile.ld; };
    split = column + tiles[0].cols;
    first = at(tiles.front(), column);
    second = at(tiles.back(), tiles.size() > 1 ? split : column);
    first_ld = tiles.front().ld - 1;
    second_ld = tiles.back().ld - 1;
  }
  HWY_INLINE T* operator()(index_t j) const { return j < split ? first + j * first_ld : second + j * second_ld; }
};

/// Rows row … of C columns of a band.
template <int C, class T>
struct BandRows {
  T* a[C];
  HWY_INLINE BandRows(const BandColumns<T>& band, index_t row, index_t column) {
    for (int c = 0; c < C; ++c) a[c] = band(column + c) + row;
  }
};

/// Calls f.template at<C>(j) for all columns begin <= j < end, C = 4 or 1 at a time.
template <class F>
HWY_INLINE void by_fours(index_t begin, index_t end, const F& f) {
  index_t j = begin;
  for (; j + 4 <= end; j += 4) f.template at<4>(j);
  for (; j < end; ++j) f.template at<1>(j);
}

/// Computes y += E x for C columns at a time; E's first element is (row, column).
template <class T>
struct Multiply {
  const BandColumns<T>& band;
  index_t row, column, rows;
  const T* x;
  T* y;
  template <int C>
  HWY_INLINE void at(index_t j) const {
    multiply<C, false, T>(0, rows, BandRows<C, T>(band, row, column + j).a, x + j, y, nullptr, nullptr);
  }
};

}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
