#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// The factorization of one tile, entry by entry in the stages of a wavefront (make_wavefront): A = L U without
/// pivoting, unit L below U, or, `symmetric`, A = R^T R with R in the upper triangle, which alone is read. A chain of
/// tasks of `stages_at_once` stages, for studies: the fast way is by tiles (lu, cholesky).
template <class T>
class StageFactorization {
 public:
  /// Inserts the tasks. Throws ArgumentError unless A is one square tile.
  StageFactorization(Graph& g, const TileMatrix<T>& A, bool symmetric, index_t stages_at_once = 64);

  /// The place, from 1, of the first pivot that is zero or not finite, or the order of the leading minor that is not
  /// positive; 0 where all is well. Waits for it.
  index_t stop() const;
  /// Inserts X = A^-1 X, X in tiles of whole columns.
  void solve(Graph& g, const TileMatrix<T>& X) const;

 private:
  TileMatrix<T> a_;
  TileMatrix<double> stop_;
  bool symmetric_;
};

}  // namespace tesela
