#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela::detail {

/// LR steps by square tiles: D = L U by tile elimination without pivoting, L's diagonal 1 (Crout), then D' = U L.
template <class T>
class LrTiles {
 public:
  /// Work space for a D of order n in tiles of nb x nb, and for the verdicts of at most `steps` steps.
  LrTiles(Graph& g, index_t n, index_t nb, index_t steps);

  /// Inserts the step with number `step`, from 0 on: D' = L^-1 D L. D's contents are lost.
  void insert_step(Graph& g, index_t step, const TileMatrix<T>& D, const TileMatrix<T>& next) const;

  /// Returns 1 + the row of the first pivot of a step that is zero or not finite; 0 without one. Waits for the step.
  index_t broken(index_t step) const;

  /// Inserts a copy of D(k, k)'s part below the diagonal, with zeros above it. Returns the copy.
  Tile<T> below_diagonal(Graph& g, const TileMatrix<T>& D, index_t k) const;

 private:
  void factor(Graph& g, index_t step, const TileMatrix<T>& D) const;
  void multiply(Graph& g, const TileMatrix<T>& D, const TileMatrix<T>& next) const;

  index_t nb_;
  TileMatrix<T> lower_;      // (k, k): L(k, k); (k, i): the transpose of L(i, k), i > k
  TileMatrix<T> upper_;      // (k, k): U(k, k); other tiles of U replace D's
  TileMatrix<T> none_;       // inverses, which getrf does not compute for one column
  TileMatrix<int> swaps_;    // without pivoting: the identity
  TileMatrix<double> zero_;  // (k, step): position in tile k of a zero pivot
};

}  // namespace tesela::detail
