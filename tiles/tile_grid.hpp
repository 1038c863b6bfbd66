#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/block_cyclic.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace tesela {

/// The part of a TileMatrix that does not depend on its elements' type: sizes, and the tiles as data of the runtime.
class TileGrid {
 public:
  /// Return the rows and columns of the matrix, and of tiles in it.
  index_t m() const { return m_; }
  index_t n() const { return n_; }
  index_t mt() const { return mt_; }
  index_t nt() const { return nt_; }
  TileShape tile_shape() const;
  bool mapped() const;
  /// Leading dimension of a mapped matrix's memory, otherwise of the largest tiles.
  index_t ld() const;

  /// Returns whether both matrices share a tile, as overlapping views of one matrix do.
  bool shares_tiles(const TileGrid& other) const;

  /// Waits until every tile of a mapped matrix is up to date in the user's memory.
  void bring_home() const;

  /// Declares that the user has written to a mapped matrix's memory: waits for the tasks that use the tiles, and
  /// invalidates other copies.
  void home_changed() const;

 protected:
  /// Column-major memory of the user; null lets StarPU allocate the tiles.
  struct Memory {
    void* a;
    index_t ld;
    std::size_t element;  ///< bytes
  };

  TileGrid(Runtime& runtime, Memory memory, Shape shape, TileShape tile, std::string name)
      : TileGrid(runtime, memory, shape, tile, std::move(name), -1, nullptr) {}

  /// Maps memory of a GPU (TileMatrix::map_device).
  static TileGrid on_device(Runtime& runtime, Memory memory, Shape shape, TileShape tile, const std::string& name,
                            int gpu);
  /// Maps this rank's share of a matrix (TileMatrix::map_block_cyclic).
  static TileGrid block_cyclic(Runtime& runtime, Memory memory, Shape shape, TileShape tile, const std::string& name);

  TileGrid sub_grid(index_t i0, index_t j0, index_t mt, index_t nt) const;

  /// Returns the data of tile (i, j). Throws ArgumentError outside of 0 <= i < mt, 0 <= j < nt.
  detail::Data& data_of(index_t i, index_t j) const;

  /// Throws ArgumentError if `ld` is too small for the shape, or if `a` is null and the shape is not empty.
  static void check_memory(const char* routine, const void* a, Shape shape, index_t ld);

 private:
  /// `gpu`: number of the GPU that has the memory, or -1. `part`: the memory is this rank's share of the matrix.
  TileGrid(Runtime& runtime, Memory memory, Shape shape, TileShape tile, std::string name, int gpu,
           const BlockCyclic* part);
  template <class F>
  void for_each(F f) const;

  struct Storage;
  std::shared_ptr<Storage> storage_;
  index_t m_, n_;
  index_t mt_ = 0, nt_ = 0;
  index_t i0_ = 0, j0_ = 0;
};

}  // namespace tesela
