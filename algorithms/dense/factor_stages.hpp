#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// The factorization of one tile, element by element, in the stages of a wavefront (make_wavefront): A = L U without
/// pivoting, unit L below U; or with `symmetric` A = R^H R, which reads and writes only the upper triangle. Each task
/// of a chain executes `stages_at_once` stages. It serves the study of schedules; lu and cholesky are the fast methods.
template <class T>
class StageFactorization {
 public:
  /// Inserts the tasks. Throws ArgumentError if A is not one square tile or stages_at_once < 1.
  StageFactorization(Graph& g, const TileMatrix<T>& A, bool symmetric, index_t stages_at_once = 64);

  /// Returns the index, from 1, of the first pivot that is zero or not finite, or the order of the first leading minor
  /// that is not positive; 0 if there is none. Waits for it.
  index_t stop() const;
  /// Inserts X = A^-1 X; X in tiles of whole columns. Throws ArgumentError for another shape.
  void solve(Graph& g, const TileMatrix<T>& X) const;

 private:
  TileMatrix<T> a_;
  TileMatrix<double> stop_;
  bool symmetric_;
};

}  // namespace tesela
