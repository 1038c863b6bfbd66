#pragma once

#include "tools/peers/restored.hpp"
#include "tools/problems/eigen/eig_data.hpp"
#include <tesela/codelets/support/fill.hpp>

#include <optional>

namespace tesela::bench {

/// A graph's matrix.
template <class T>
class EigTiles {
 public:
  /// Returns A with its original elements.
  const TileMatrix<T>& restore(const EigData<T>& data) {
    const EigCase& w = data.what();
    Runtime& runtime = data.runtime();
    const Shape shape{w.n, w.n};
    const TileShape tile{w.n, suitable_eig_tile(runtime, w.n, w.band)};
    const auto where = [](index_t j) { return on_gpu_number(static_cast<std::size_t>(j)); };
    if (!w.on_device) {
      kept_.release();
      data.restore();
      return kept_.on_host(runtime, data.a(), shape, tile);
    }
    if (!data.generator())
      return kept_.on_devices(
          runtime, shape, tile,
          [&](Graph&, const TileMatrix<T>& original) { original.copy_from(data.original().data(), w.n); }, where);
    if (!generated_) generated_.emplace(runtime, w.n, w.n, tile, "A");
    Graph g(runtime);
    generated_->for_each_tile([&](const Tile<T>& one, index_t row, index_t column) {
      g.insert<kernels::Fill<T>>(where(column / tile.nb), {*data.generator(), row, column}, one);
    });
    g.wait();
    return *generated_;
  }

 private:
  std::optional<TileMatrix<T>> generated_;
  RestoredMatrix<T> kept_;
};

}  // namespace tesela::bench
