#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/runtime/scalar.hpp>

#include <utility>

namespace tesela::detail {

/// A factorization A = Q R of a tall matrix.
template <class T>
class TallFactors {
 public:
  /// Inserts the factorization, which overwrites A, in tiles of tile().
  TallFactors(Graph& g, TileMatrix<T> A) : A_(std::move(A)), factors_(qr(g, A_)), gpus_(on_gpus(g)) {}

  /// Returns the tiles of A.
  static TileShape tile(const Runtime& runtime, Shape a) { return qr_tile(runtime, a.rows, a.cols, is_complex<T>); }
  index_t rows() const { return A_.m(); }

  /// Inserts and returns R, n x n, in these tiles.
  TileMatrix<T> triangle(Graph& g, TileShape tile) const {
    const index_t n = A_.n();
    const TileMatrix<T> cut(g.runtime(), n, n, A_.tile_shape(), "R"), R(g.runtime(), n, n, tile, "A");
    factors_.extract_r(g, cut);
    rearrange(g, cut, {.on_gpus = gpus_}, R);
    return R;
  }
  /// Inserts C = Q [X 0; 0 I] for C in tiles of tile().
  void multiply(Graph& g, const TileMatrix<T>& X, const TileMatrix<T>& C) const {
    rearrange(g, X, {.padded = true, .on_gpus = gpus_}, C);
    factors_.apply(g, Side::left, Op::none, C);
  }

 private:
  static bool on_gpus(const Graph& g) { return workers_for<T>(g.runtime()).gpus > 0; }

  TileMatrix<T> A_;
  QrFactorization<T> factors_;
  bool gpus_;
};

}  // namespace tesela::detail
