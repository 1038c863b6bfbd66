#pragma once

#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tesela::bench {

/// A matrix that stays on the devices and is restored before each run by a copy there.
template <class T>
class RestoredMatrix {
 public:
  RestoredMatrix() = default;
  RestoredMatrix(const RestoredMatrix&) = delete;
  RestoredMatrix& operator=(const RestoredMatrix&) = delete;
  ~RestoredMatrix() { forget(); }

  /// Returns the matrix that `first(graph, original)` made at the first call; `where(i, j)` places the copy of
  /// tile (i, j).
  template <class First, class Where>
  const TileMatrix<T>& on_devices(Runtime& runtime, Shape shape, TileShape tile, const First& first,
                                  const Where& where) {
    Graph g(runtime);
    if (!original_) {
      original_.emplace(runtime, shape.rows, shape.cols, tile, "A0");
      working_.emplace(runtime, shape.rows, shape.cols, tile, "A");
      first(g, *original_);
    }
    for (index_t j = 0; working_->mt() > 0 && j < working_->nt(); ++j)
      for (index_t i = 0; i < working_->mt(); ++i)
        g.insert<kernels::Lacpy<T>>(where(i, j), {}, (*original_)(i, j), (*working_)(i, j));
    g.wait();
    return *working_;
  }
  /// Makes a matrix that a run writes completely.
  void empty(Runtime& runtime, Shape shape, TileShape tile) {
    if (!working_) working_.emplace(runtime, shape.rows, shape.cols, tile, "W");
  }
  /// Maps the user's memory, which no other RestoredMatrix may map: see release().
  const TileMatrix<T>& on_host(Runtime& runtime, T* a, Shape shape, TileShape tile) {
    return on_host(runtime, a, shape, tile, std::max<index_t>(shape.rows, 1));
  }
  const TileMatrix<T>& on_host(Runtime& runtime, T* a, Shape shape, TileShape tile, index_t ld) {
    hold(a);
    return working_.emplace(TileMatrix<T>::map(runtime, a, shape.rows, shape.cols, ld, tile, "A"));
  }
  /// Maps this rank's part of a matrix.
  const TileMatrix<T>& on_ranks(Runtime& runtime, T* local, Shape whole, TileShape tile, index_t ld) {
    hold(local);
    return working_.emplace(TileMatrix<T>::map_block_cyclic(runtime, local, whole.rows, whole.cols, ld, tile, "A"));
  }
  /// Ends the mapping of `a` by any RestoredMatrix. Must be called before `a` is written, since StarPU may copy a
  /// device's data home at any time.
  static void release(const T* a) {
    std::optional<TileMatrix<T>> mapped;
    const std::lock_guard lock(mutex_);
    if (const auto holder = holders_.find(a); holder != holders_.end()) {
      mapped.swap(holder->second->working_);
      holders_.erase(holder);
    }
  }
  /// Result of the last of these calls.
  const TileMatrix<T>& operator*() const { return *working_; }
  const TileMatrix<T>* operator->() const { return &*working_; }

 private:
  void forget() {
    const std::lock_guard lock(mutex_);
    std::erase_if(holders_, [this](const auto& entry) { return entry.second == this; });
  }
  void hold(const T* a) {
    if (a == nullptr) return;  // empty matrices share this address
    release(a);
    forget();
    const std::lock_guard lock(mutex_);
    holders_[a] = this;
  }

  inline static std::mutex mutex_;
  inline static std::map<const T*, RestoredMatrix*> holders_;
  std::optional<TileMatrix<T>> original_, working_;
};

}  // namespace tesela::bench
