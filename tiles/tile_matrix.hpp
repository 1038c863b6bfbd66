#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/memory.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/block_cyclic.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tesela {

/// An m x n matrix in tiles of mb x nb, each a piece of data that StarPU moves between memories. Copies and views share
/// the tiles. T is float or double; other trivially copyable element types work with kernels that accept them.
template <class T>
class TileMatrix {
 public:
  /// Makes a matrix without contents and without a fixed place: StarPU allocates each tile at its first write.
  ///
  /// Throws   ArgumentError for negative sizes and for tile sizes below 1, and EnvironmentError if the records of the
  ///          tiles exceed the free memory.
  TileMatrix(Runtime& runtime, index_t m, index_t n, TileShape tile, std::string name = "A")
      : TileMatrix(runtime, nullptr, m, n, std::max<index_t>(m, 1), tile, std::move(name)) {}

  /// Maps the user's column-major memory (element (i, j) at a[i + j ld]) with tiles in place, without copies on the
  /// host. While the matrix lives, it owns the memory, which is page-locked if the runtime has a GPU; after
  /// bring_home() or destruction the memory holds the result. For a matrix that is only read, `a` may point to constant
  /// memory.
  static TileMatrix map(Runtime& runtime, T* a, index_t m, index_t n, index_t ld, TileShape tile,
                        std::string name = "A") {
    check_memory("TileMatrix::map", a, m, n, ld);
    return TileMatrix(runtime, a, m, n, ld, tile, std::move(name));
  }
  /// Maps memory of the runtime's GPU number `gpu` (from cudaMalloc, CuPy or PyTorch); tasks there use it in place.
  ///
  /// Waits    for work on the device's default stream, here and in home_changed(). Work on other streams of the user
  ///          must have finished before. After bring_home() or destruction, the tasks have finished and the memory
  ///          holds the result.
  /// Throws   EnvironmentError if the runtime has no such GPU, and ArgumentError for memory of another device.
  static TileMatrix map_device(Runtime& runtime, T* a, index_t m, index_t n, index_t ld, TileShape tile, int gpu = 0,
                               std::string name = "A") {
    check_memory("TileMatrix::map_device", a, m, n, ld);
    if (gpu < 0) throw ArgumentError("TileMatrix::map_device", "gpu", std::to_string(gpu) + " is negative");
    const int device = m > 0 && n > 0 ? require_device_memory(runtime, a, gpu) : -1;
    if (device >= 0) wait_for_default_stream(device);
    const TileMatrix matrix(runtime, a, m, n, ld, tile, std::move(name), gpu);
    matrix.storage_->device = device;
    return matrix;
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
                                     std::string name = "A") {
    if (runtime.ranks() == 1) return map(runtime, local, m, n, ld, tile, std::move(name));
    require_sizes(m, n, tile);
    const BlockCyclic part(runtime, {m, n}, tile);
    check_memory("TileMatrix::map_block_cyclic", local, part.local().rows, part.local().cols, ld);
    return TileMatrix(runtime, local, m, n, ld, tile, std::move(name), -1, &part);
  }

  index_t m() const { return m_; }
  index_t n() const { return n_; }
  index_t mt() const { return mt_; }
  index_t nt() const { return nt_; }
  TileShape tile_shape() const { return storage_->tile; }
  bool mapped() const { return storage_->mapped; }
  /// Leading dimension of a mapped matrix's memory; otherwise that of the largest tiles.
  index_t ld() const { return storage_->ld; }

  /// Returns whether both matrices share a tile, as overlapping views of one matrix do.
  bool shares_tiles(const TileMatrix& other) const {
    const auto meet = [](index_t a0, index_t a, index_t b0, index_t b) {
      return std::max(a0, b0) < std::min(a0 + a, b0 + b);
    };
    return storage_ == other.storage_ && meet(i0_, mt_, other.i0_, other.mt_) && meet(j0_, nt_, other.j0_, other.nt_);
  }

  /// Returns tile (i, j), 0 <= i < mt, 0 <= j < nt.
  Tile<T> operator()(index_t i, index_t j) const {
    if (i < 0 || i >= mt_ || j < 0 || j >= nt_)
      throw ArgumentError("TileMatrix", "tile",
                          "(" + std::to_string(i) + ", " + std::to_string(j) + ") of a matrix with " +
                              std::to_string(mt_) + " x " + std::to_string(nt_) + " tiles");
    return Tile<T>(*storage_->tiles[static_cast<std::size_t>(i0_ + i + (j0_ + j) * storage_->mt)]);
  }

  /// Returns the sub-matrix of tiles i0 … i0 + mt - 1 by j0 … j0 + nt - 1; it shares them.
  TileMatrix view(index_t i0, index_t j0, index_t mt, index_t nt) const {
    if (i0 < 0 || mt < 0 || i0 > mt_ || mt > mt_ - i0 || j0 < 0 || nt < 0 || j0 > nt_ || nt > nt_ - j0)
      throw ArgumentError("TileMatrix::view", "range",
                          "rows " + std::to_string(i0) + "+" + std::to_string(mt) + ", columns " + std::to_string(j0) +
                              "+" + std::to_string(nt) + " of a matrix with " + std::to_string(mt_) + " x " +
                              std::to_string(nt_) + " tiles");
    TileMatrix v = *this;
    v.i0_ += i0;
    v.j0_ += j0;
    v.mt_ = mt;
    v.nt_ = nt;
    v.m_ = std::min(mt * storage_->tile.mb, m_ - i0 * storage_->tile.mb);
    v.n_ = std::min(nt * storage_->tile.nb, n_ - j0 * storage_->tile.nb);
    v.m_ = std::max<index_t>(v.m_, 0);
    v.n_ = std::max<index_t>(v.n_, 0);
    return v;
  }

  /// Copy from or to column-major memory; both wait for the tasks that use the tiles.
  void copy_from(const T* a, index_t ld) const {
    check_memory("TileMatrix::copy_from", a, m_, n_, ld);
    for_each_tile([&](Tile<T> tile, index_t row, index_t col) {
      const auto block = tile.write();
      for (index_t j = 0; j < block.cols; ++j)
        std::copy_n(a + row + (col + j) * ld, block.rows, block.data + j * block.ld);
    });
  }
  void copy_to(T* a, index_t ld) const {
    check_memory("TileMatrix::copy_to", a, m_, n_, ld);
    for_each_tile([&](Tile<T> tile, index_t row, index_t col) {
      const auto block = tile.read();
      for (index_t j = 0; j < block.cols; ++j)
        std::copy_n(block.data + j * block.ld, block.rows, a + row + (col + j) * ld);
    });
  }

  /// Waits until every tile of a mapped matrix is up to date in the user's memory.
  void bring_home() const {
    for_each_tile([](Tile<T> tile, index_t, index_t) {
      if (tile.data().has_value()) tile.data().acquire_home(Mode::in);
    });
  }

  /// Declares that the user has written to a mapped matrix's memory: waits for the tasks that use the tiles, and
  /// invalidates other copies.
  void home_changed() const {
    if (storage_->device >= 0) wait_for_default_stream(storage_->device);
    for_each_tile([&](Tile<T> tile, index_t, index_t) {
      // The user's values define a tile that was forgotten or lost.
      tile.data().acquire_home(tile.data().has_value() && !tile.data().is_lost() ? Mode::inout : Mode::out);
    });
  }

  /// Calls f(tile, first row, first column) for every tile, column by column.
  template <class F>
  void for_each_tile(F f) const {
    for (index_t j = 0; mt_ > 0 && j < nt_; ++j)
      for (index_t i = 0; i < mt_; ++i) f((*this)(i, j), i * storage_->tile.mb, j * storage_->tile.nb);
  }

 private:
  struct Storage {
    TileShape tile;
    index_t mt = 0;
    index_t ld = 1;
    bool mapped = false;
    int device = -1;  // CUDA device of the memory; -1: host
    std::vector<PinnedMemory> pinned;
    std::vector<std::unique_ptr<detail::Data>> tiles;  // destroyed (brought home) before the memory is unpinned
  };

  static void check_memory(const char* routine, const T* a, index_t m, index_t n, index_t ld) {
    if (ld < std::max<index_t>(m, 1))
      throw ArgumentError(routine, "ld", std::to_string(ld) + " is less than max(1, m)");
    if (a == nullptr && m > 0 && n > 0) throw ArgumentError(routine, "a", "null");
  }

  static void require_sizes(index_t m, index_t n, TileShape tile) {
    for (const auto& [value, argument] : {std::pair{m, "m"}, std::pair{n, "n"}})
      if (value < 0) throw ArgumentError("TileMatrix", argument, std::to_string(value) + " is negative");
    if (tile.mb < 1 || tile.nb < 1)
      throw ArgumentError("TileMatrix", "tile",
                          std::to_string(tile.mb) + " x " + std::to_string(tile.nb) + " (both must be at least 1)");
  }

  /// `part`: a is this rank's share of the matrix.
  TileMatrix(Runtime& runtime, T* a, index_t m, index_t n, index_t ld, TileShape tile, std::string name, int gpu = -1,
             const BlockCyclic* part = nullptr)
      : m_(m), n_(n) {
    require_sizes(m, n, tile);
    mt_ = ceil_div(m, tile.mb);
    nt_ = ceil_div(n, tile.nb);
    require_memory_for_tiles(static_cast<double>(mt_) * static_cast<double>(nt_));
    storage_ = std::make_shared<Storage>();
    storage_->tile = tile;
    storage_->mt = mt_;
    storage_->ld = a != nullptr ? ld : std::clamp<index_t>(m, 1, tile.mb);
    storage_->mapped = a != nullptr || part != nullptr;
    const Shape here = part != nullptr ? part->local() : Shape{m, n};
    if (a != nullptr && here.rows > 0 && here.cols > 0 && gpu < 0)
      storage_->pinned.emplace_back(runtime, a, static_cast<std::size_t>(ld * (here.cols - 1) + here.rows) * sizeof(T));
    const auto label = std::make_shared<const std::string>(std::move(name));
    for (index_t j = 0; mt_ > 0 && j < nt_; ++j)
      for (index_t i = 0; i < mt_; ++i) {
        const Shape shape{std::min(tile.mb, m - i * tile.mb), std::min(tile.nb, n - j * tile.nb)};
        T* home = a;
        if (part != nullptr)
          home =
              part->here(i, j) ? a + part->rows.before(i * tile.mb) + part->columns.before(j * tile.nb) * ld : nullptr;
        else if (a != nullptr)
          home = a + i * tile.mb + j * tile.nb * ld;
        storage_->tiles.push_back(std::make_unique<detail::Data>(
            runtime, home, shape, ld, sizeof(T),
            home != nullptr ? detail::Data::OnRelease::bring_home : detail::Data::OnRelease::drop, gpu));
        storage_->tiles.back()->set_label(label, i, j);
        if (part != nullptr) storage_->tiles.back()->set_home_rank(part->rank_of(i, j));
      }
  }

  std::shared_ptr<Storage> storage_;
  index_t m_, n_;
  index_t mt_ = 0, nt_ = 0;
  index_t i0_ = 0, j0_ = 0;
};

}  // namespace tesela
