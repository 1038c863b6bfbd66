#pragma once

#include <tesela/runtime/require.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tesela {

/// A symmetric or Hermitian band matrix B of order n and half-width b with space for bulges: a 2b x n TileMatrix in one
/// tile row, with B(i, j), i >= j, in row i - j of column j (LAPACK's lower band storage). Other elements are not read.
/// A tile has a multiple of b columns, at least 2b, unless one tile has all columns.
template <class T>
class SymmetricBand {
 public:
  /// Allocates a band without contents. The half-width is clamped to 1 … n - 1. Throws ArgumentError for a negative
  /// order or half-width, and for a window that is less than twice the half-width or not a multiple of it.
  SymmetricBand(Runtime& runtime, index_t n, index_t half_width, index_t window)
      : SymmetricBand(make(runtime, n, half_width, window)) {}

  /// Uses existing tiles, whose number of rows is twice the half-width. Throws ArgumentError for another tiling.
  explicit SymmetricBand(TileMatrix<T> tiles) : tiles_(std::move(tiles)) {
    const index_t b = half_width(), w = tiles_.tile_shape().nb;
    const auto refuse = [](const std::string& what) { throw ArgumentError("SymmetricBand", "tiles", what); };
    if (tiles_.n() > 0 && (tiles_.m() < 2 || tiles_.m() % 2 != 0 || tiles_.mt() != 1))
      refuse(std::to_string(tiles_.m()) + " rows in " + std::to_string(tiles_.mt()) +
             " tiles; a band needs 2b rows in one tile");
    if (tiles_.nt() > 1 && (w % b != 0 || w < 2 * b))
      refuse(std::to_string(w) + " columns per tile: not a multiple of b = " + std::to_string(b) + ", or less than 2b");
  }

  index_t order() const { return tiles_.n(); }
  index_t half_width() const { return std::max<index_t>(tiles_.m() / 2, 1); }  ///< b
  const TileMatrix<T>& tiles() const { return tiles_; }                        ///< the 2b x n matrix

  /// Copies a matrix with `width` sub-diagonals, at most half_width(), from LAPACK's lower band storage (ld > width).
  /// Waits for the tasks that use the tiles.
  void copy_from(const T* ab, index_t ld, index_t width) const {
    require(width >= 0 && width <= half_width() && ld > width, "SymmetricBand::copy_from", "width, ld", width, ", ",
            ld);
    tiles_.for_each_tile([&](Tile<T> tile, index_t, index_t column) {
      const auto block = tile.write();
      for (index_t j = 0; j < block.cols; ++j)
        for (index_t i = 0; i < block.rows; ++i) block(i, j) = i <= width ? ab[i + (column + j) * ld] : T(0);
    });
  }

  /// Returns row `distance` of the storage: B(j + distance, j) for all j. Waits for the tasks that write it.
  std::vector<T> diagonal(index_t distance) const {
    std::vector<T> d;
    tiles_.read_each_tile([&](const auto& block, index_t, index_t) {
      for (index_t j = 0; j < block.cols; ++j) d.push_back(block(distance, j));
    });
    d.resize(static_cast<std::size_t>(std::max<index_t>(order() - distance, 0)));
    return d;
  }

 private:
  static TileMatrix<T> make(Runtime& runtime, index_t n, index_t half_width, index_t window) {
    const auto refuse = [](const char* what, index_t value) {
      throw ArgumentError("SymmetricBand", what, std::to_string(value));
    };
    if (n < 0) refuse("n", n);
    if (half_width < 0) refuse("half_width", half_width);
    const index_t b = std::clamp<index_t>(half_width, 1, std::max<index_t>(n - 1, 1));
    if (window < 2 * b || window % b != 0) refuse("window", window);
    return TileMatrix<T>(runtime, 2 * b, n, {2 * b, window}, "B");
  }

  TileMatrix<T> tiles_;
};

}  // namespace tesela
