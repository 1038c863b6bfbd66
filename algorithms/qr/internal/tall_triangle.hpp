#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/matrix_view.hpp>

namespace tesela::detail {

/// Returns R of A = Q R, n x n, by the tile QR, and overwrites A. Returns an empty matrix and leaves A alone if A is
/// wide or has fewer than 256 columns: LAPACK then reads A itself.
template <class T>
HostMatrix<T> tall_triangle(Runtime& runtime, HostMatrix<T>& A) {
  constexpr index_t graph_from = 256;
  const index_t m = A.rows(), n = A.cols();
  if (m < n || n < graph_from) return {};
  HostMatrix<T> triangle(n, n);
  const TileShape tile = qr_tile(runtime, m, n);
  const auto tiles = MatrixView<T>(A).in_tiles(runtime, tile, "A"),
             r = MatrixView<T>(triangle).in_tiles(runtime, tile, "R");
  Graph g(runtime);
  qr(g, tiles).extract_r(g, r);
  g.wait();
  tiles.bring_home();
  r.bring_home();
  return triangle;
}

}  // namespace tesela::detail
