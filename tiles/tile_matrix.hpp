#pragma once

#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_grid.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tesela {

/// An m x n matrix in tiles of mb x nb, each a piece of data that StarPU moves between memories. Copies and views share
/// the tiles. T is float or double; other trivially copyable element types work with kernels that accept them.
template <class T>
class TileMatrix : public TileGrid {
 public:
  /// Makes a matrix without contents and without a fixed place: StarPU allocates each tile at its first write.
  ///
  /// Throws   ArgumentError for negative sizes and for tile sizes below 1, and EnvironmentError if the records of the
  ///          tiles exceed the free memory.
  TileMatrix(Runtime& runtime, index_t m, index_t n, TileShape tile, std::string name = "A")
      : TileMatrix(runtime, {nullptr, std::max<index_t>(m, 1), sizeof(T)}, {m, n}, tile, std::move(name)) {}

  /// Maps the user's column-major memory (element (i, j) at a[i + j ld]) with tiles in place, without copies on the
  /// host. While the matrix lives, it owns the memory, which is page-locked if the runtime has a GPU; after
  /// bring_home() or destruction the memory holds the result. For a matrix that is only read, `a` may point to constant
  /// memory.
  static TileMatrix map(Runtime& runtime, T* a, index_t m, index_t n, index_t ld, TileShape tile,
                        std::string name = "A") {
    check_memory("TileMatrix::map", a, {m, n}, ld);
    return TileMatrix(runtime, {a, ld, sizeof(T)}, {m, n}, tile, std::move(name));
  }
  /// Maps memory of the runtime's GPU number `gpu` (from cudaMalloc, CuPy or PyTorch); tasks there use it in place.
  ///
  /// Waits    for work on the device's default stream, here and in home_changed(). Work on other streams of the user
  ///          must have finished before. After bring_home() or destruction, the tasks have finished and the memory
  ///          holds the result.
  /// Throws   EnvironmentError if the runtime has no such GPU, and ArgumentError for memory of another device.
  static TileMatrix map_device(Runtime& runtime, T* a, index_t m, index_t n, index_t ld, TileShape tile, int gpu = 0,
                               const std::string& name = "A") {
    return TileMatrix(on_device(runtime, {a, ld, sizeof(T)}, {m, n}, tile, name, gpu));
  }
  static TileMatrix map(Runtime& runtime, const T* a, index_t m, index_t n, index_t ld, TileShape tile,
                        std::string name = "A") {
    return map(runtime, const_cast<T*>(a), m, n, ld, tile, std::move(name));
  }
  /// Maps ScaLAPACK's layout: each rank has its tiles of the m x n matrix in a local column-major array of
  /// BlockCyclic::local() rows and columns and leading dimension ld, in place.
  ///
  /// In a P x Q grid (Runtime::grid), rank p Q + q has the tiles with i mod P = p and j mod Q = q. No rank holds other
  /// tiles, except copies for its tasks. After bring_home() or destruction the local arrays hold the result. All ranks
  /// must make the same call; with a single process it equals map().
  static TileMatrix map_block_cyclic(Runtime& runtime, T* local, index_t m, index_t n, index_t ld, TileShape tile,
                                     const std::string& name = "A") {
    return TileMatrix(block_cyclic(runtime, {local, ld, sizeof(T)}, {m, n}, tile, name));
  }

  /// Returns tile (i, j), 0 <= i < mt, 0 <= j < nt.
  Tile<T> operator()(index_t i, index_t j) const { return Tile<T>(data_of(i, j)); }

  /// Returns the sub-matrix of tiles i0 … i0 + mt - 1 by j0 … j0 + nt - 1; it shares them.
  TileMatrix view(index_t i0, index_t j0, index_t mt, index_t nt) const { return TileMatrix(sub_grid(i0, j0, mt, nt)); }

  /// Copy from or to column-major memory; both wait for the tasks that use the tiles.
  void copy_from(const T* a, index_t ld) const {
    check_memory("TileMatrix::copy_from", a, {m(), n()}, ld);
    for_each_tile([&](Tile<T> tile, index_t row, index_t col) {
      const auto block = tile.write();
      for (index_t j = 0; j < block.cols; ++j)
        std::copy_n(a + row + (col + j) * ld, block.rows, block.data + j * block.ld);
    });
  }
  void copy_to(T* a, index_t ld) const {
    check_memory("TileMatrix::copy_to", a, {m(), n()}, ld);
    read_each_tile([&](const auto& block, index_t row, index_t col) {
      for (index_t j = 0; j < block.cols; ++j)
        std::copy_n(block.data + j * block.ld, block.rows, a + row + (col + j) * ld);
    });
  }

  /// Returns a copy in host memory; waits for the tasks that use the tiles.
  HostMatrix<T> to_host() const {
    HostMatrix<T> a(m(), n());
    copy_to(a.data(), a.ld());
    return a;
  }

  /// Calls f(tile, first row, first column) for every tile, column by column.
  template <class F>
  void for_each_tile(F f) const {
    for (index_t j = 0; mt() > 0 && j < nt(); ++j)
      for (index_t i = 0; i < mt(); ++i) f((*this)(i, j), i * tile_shape().mb, j * tile_shape().nb);
  }
  /// Calls f(tile.read(), first row, first column) for every tile, column by column.
  template <class F>
  void read_each_tile(F f) const {
    for_each_tile([&](const Tile<T>& tile, index_t row, index_t column) { f(tile.read(), row, column); });
  }

 private:
  TileMatrix(Runtime& runtime, Memory memory, Shape shape, TileShape tile, std::string name)
      : TileGrid(runtime, memory, shape, tile, std::move(name)) {}
  explicit TileMatrix(TileGrid grid) : TileGrid(std::move(grid)) {}
};

}  // namespace tesela
