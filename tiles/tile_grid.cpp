#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/tile_grid.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace tesela {
namespace {

/// The tiles in one block of memory, so that a tile's address needs no access. (A vector would move them.)
class Tiles {
 public:
  explicit Tiles(std::size_t capacity)
      : capacity_(capacity), first_(std::allocator<detail::Data>().allocate(capacity)) {}
  ~Tiles() {
    std::destroy_n(first_, size_);
    std::allocator<detail::Data>().deallocate(first_, capacity_);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  template <class... Arguments>
  detail::Data& add(Arguments&&... arguments) {
    detail::Data* const tile = std::construct_at(first_ + size_, std::forward<Arguments>(arguments)...);
    ++size_;
    return *tile;
  }
  detail::Data& operator[](std::size_t k) const { return first_[k]; }

 private:
  std::size_t capacity_, size_ = 0;
  detail::Data* first_;
};

}  // namespace

struct TileGrid::Storage {
  TileShape tile;
  index_t mt = 0;
  index_t ld = 1;
  bool mapped = false;
  int device = -1;  // CUDA device of the memory; -1: host
  std::vector<PinnedMemory> pinned;
  std::optional<Tiles> tiles;  // destroyed (brought home) before the memory is unpinned
};

namespace {

void require_sizes(Shape shape, TileShape tile) {
  require(shape.rows >= 0, "TileMatrix", "m", shape.rows, " is negative");
  require(shape.cols >= 0, "TileMatrix", "n", shape.cols, " is negative");
  require(tile.mb >= 1 && tile.nb >= 1, "TileMatrix", "tile", tile, " (both must be at least 1)");
}

}  // namespace

TileGrid::TileGrid(Runtime& runtime, Memory memory, Shape shape, TileShape tile, std::string name, int gpu,
                   const BlockCyclic* part)
    : m_(shape.rows), n_(shape.cols) {
  require_sizes(shape, tile);
  mt_ = ceil_div(m_, tile.mb);
  nt_ = ceil_div(n_, tile.nb);
  require_memory_for_tiles(static_cast<double>(mt_) * static_cast<double>(nt_));
  void* const a = memory.a;
  const index_t ld = memory.ld;
  const std::size_t element = memory.element;
  storage_ = std::make_shared<Storage>();
  storage_->tile = tile;
  storage_->mt = mt_;
  storage_->ld = a != nullptr ? ld : std::clamp<index_t>(m_, 1, tile.mb);
  storage_->mapped = a != nullptr || part != nullptr;
  const Shape here = part != nullptr ? part->local() : shape;
  if (a != nullptr && here.rows > 0 && here.cols > 0 && gpu < 0)
    storage_->pinned.emplace_back(runtime, a, static_cast<std::size_t>(ld * (here.cols - 1) + here.rows) * element);
  const auto at = [&](index_t row, index_t col) -> void* {
    return static_cast<std::byte*>(a) + static_cast<std::size_t>(row + col * ld) * element;
  };
  Tiles& tiles = storage_->tiles.emplace(static_cast<std::size_t>(mt_ * nt_));
  const auto label = std::make_shared<const std::string>(std::move(name));
  for (index_t j = 0; mt_ > 0 && j < nt_; ++j)
    for (index_t i = 0; i < mt_; ++i) {
      const index_t row = i * tile.mb, col = j * tile.nb;
      void* home = nullptr;
      if (part != nullptr)
        home = part->here(i, j) ? at(part->rows.before(row), part->columns.before(col)) : nullptr;
      else if (a != nullptr)
        home = at(row, col);
      detail::Data& data =
          tiles.add(runtime, home, Shape{std::min(tile.mb, m_ - row), std::min(tile.nb, n_ - col)}, ld, element,
                    home != nullptr ? detail::Data::OnRelease::bring_home : detail::Data::OnRelease::drop, gpu);
      data.set_label(label, i, j);
      if (part != nullptr) data.set_home_rank(part->rank_of(i, j));
    }
}

TileGrid TileGrid::on_device(Runtime& runtime, Memory memory, Shape shape, TileShape tile, const std::string& name,
                             int gpu) {
  check_memory("TileMatrix::map_device", memory.a, shape, memory.ld);
  require(gpu >= 0, "TileMatrix::map_device", "gpu", gpu, " is negative");
  const int device = shape.rows > 0 && shape.cols > 0 ? require_device_memory(runtime, memory.a, gpu) : -1;
  if (device >= 0) wait_for_default_stream(device);
  TileGrid grid(runtime, memory, shape, tile, name, gpu, nullptr);
  grid.storage_->device = device;
  return grid;
}

TileGrid TileGrid::block_cyclic(Runtime& runtime, Memory memory, Shape shape, TileShape tile, const std::string& name) {
  const auto check = [&](Shape part) { check_memory("TileMatrix::map_block_cyclic", memory.a, part, memory.ld); };
  if (runtime.ranks() == 1) {
    check(shape);
    return {runtime, memory, shape, tile, name};
  }
  require_sizes(shape, tile);
  const BlockCyclic part(runtime, shape, tile);
  check(part.local());
  return {runtime, memory, shape, tile, name, -1, &part};
}

TileShape TileGrid::tile_shape() const { return storage_->tile; }
bool TileGrid::mapped() const { return storage_->mapped; }
index_t TileGrid::ld() const { return storage_->ld; }

bool TileGrid::shares_tiles(const TileGrid& other) const {
  const auto meet = [](index_t a0, index_t a, index_t b0, index_t b) {
    return std::max(a0, b0) < std::min(a0 + a, b0 + b);
  };
  return storage_ == other.storage_ && meet(i0_, mt_, other.i0_, other.mt_) && meet(j0_, nt_, other.j0_, other.nt_);
}

detail::Data& TileGrid::data_of(index_t i, index_t j) const {
  if (i < 0 || i >= mt_ || j < 0 || j >= nt_)
    require(false, "TileMatrix", "tile", "(", i, ", ", j, ") of a matrix with ", mt_, " x ", nt_, " tiles");
  return (*storage_->tiles)[static_cast<std::size_t>(i0_ + i + (j0_ + j) * storage_->mt)];
}

TileGrid TileGrid::sub_grid(index_t i0, index_t j0, index_t mt, index_t nt) const {
  require(i0 >= 0 && mt >= 0 && i0 <= mt_ && mt <= mt_ - i0 && j0 >= 0 && nt >= 0 && j0 <= nt_ && nt <= nt_ - j0,
          "TileMatrix::view", "range", "rows ", i0, "+", mt, ", columns ", j0, "+", nt, " of a matrix with ", mt_,
          " x ", nt_, " tiles");
  TileGrid v = *this;
  v.i0_ += i0;
  v.j0_ += j0;
  v.mt_ = mt;
  v.nt_ = nt;
  const auto [mb, nb] = storage_->tile;
  v.m_ = std::max<index_t>(std::min(mt * mb, m_ - i0 * mb), 0);
  v.n_ = std::max<index_t>(std::min(nt * nb, n_ - j0 * nb), 0);
  return v;
}

template <class F>
void TileGrid::for_each(F f) const {
  for (index_t j = 0; mt_ > 0 && j < nt_; ++j)
    for (index_t i = 0; i < mt_; ++i) f(data_of(i, j));
}

void TileGrid::bring_home() const {
  for_each([](detail::Data& tile) {
    if (tile.has_value()) tile.acquire_home(Mode::in);
  });
}

void TileGrid::home_changed() const {
  if (storage_->device >= 0) wait_for_default_stream(storage_->device);
  for_each([](detail::Data& tile) {
    // The user's values define a tile that was forgotten or lost.
    tile.acquire_home(tile.has_value() && !tile.is_lost() ? Mode::inout : Mode::out);
  });
}

void TileGrid::check_memory(const char* routine, const void* a, Shape shape, index_t ld) {
  require(ld >= std::max<index_t>(shape.rows, 1), routine, "ld", ld, " is less than max(1, m)");
  require(a != nullptr || shape.rows <= 0 || shape.cols <= 0, routine, "a", "null");
}

}  // namespace tesela
