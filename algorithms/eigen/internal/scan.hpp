#pragma once

#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

/// Properties of the lower triangle of a symmetric or Hermitian matrix.
struct Scan {
  double largest = 0;
  index_t row = -1, column = -1;  // place of an element that is not finite
  index_t half_width = 0;
  int exponent() const { return largest > 0 ? std::ilogb(largest) : 0; }
};

template <class T>
Scan scan(Graph& g, const TileMatrix<T>& A) {
  const index_t mb = A.tile_shape().mb, nb = A.tile_shape().nb;
  const TileMatrix<double> found(g.runtime(), 4 * A.mt(), A.nt(), {4, 1}, "found");
  const auto above = [&](index_t i, index_t j) { return (i + 1) * mb <= j * nb; };
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i)
      if (!above(i, j)) g.insert<kernels::SymmetricScan<T>>(on_gpu, {i * mb, j * nb}, A(i, j), found(i, j));
  Scan all;
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i) {
      if (above(i, j)) continue;
      const auto one = found(i, j).read();
      all.largest = std::max(all.largest, one(0, 0));
      all.half_width = std::max(all.half_width, static_cast<index_t>(one(3, 0)));
      if (one(1, 0) >= 0 && all.row < 0)
        all.row = static_cast<index_t>(one(1, 0)), all.column = static_cast<index_t>(one(2, 0));
    }
  return all;
}

}  // namespace tesela::detail
