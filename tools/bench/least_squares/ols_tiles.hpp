#pragma once

#include "tools/peers/restored.hpp"
#include "tools/problems/least_squares/ols_data.hpp"
#include <tesela/algorithms/dense/matrices.hpp>

#include <algorithm>

namespace tesela::bench {

/// A graph's A and B, put back before each run.
template <class T>
struct OlsTiles {
  RestoredMatrix<T> A, B;

  void restore(const OlsData<T>& data) {
    const OlsCase& w = data.what();
    const TileShape cut_b{w.tile.mb, std::max<index_t>(w.rhs, 1)};
    const auto put = [&](RestoredMatrix<T>& matrix, Shape shape, TileShape tile, const auto& generator) {
      matrix.on_devices(
          data.runtime(), shape, tile, [&](Graph& g, const TileMatrix<T>& original) { fill(g, original, generator); },
          [](index_t) { return Priority{}; });
    };
    if (w.on_device) {
      put(A, {w.m, w.n}, w.tile, data.a_generator());
      put(B, {w.m, w.rhs}, cut_b, data.b_generator());
      return;
    }
    A.release();
    B.release();
    data.restore();
    A.on_host(data.runtime(), data.a(), {w.m, w.n}, w.tile);
    B.on_host(data.runtime(), data.b(), {w.m, w.rhs}, cut_b);
  }
};

}  // namespace tesela::bench
