#pragma once

#include <tesela/algorithms/eigen/symmetric_band.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// Returns the half-width of the band between the two stages that suits the workers.
inline index_t suitable_band(const WorkerCounts& workers) { return workers.gpus > 0 ? 64 : 32; }

struct ReduceToBandOptions {
  index_t block = 0;    ///< columns of V and Z that are kept in one tile; 0 chooses. Rounded up to a multiple of b
  index_t update = 0;   ///< columns that are gathered before A takes them, at most `block`; 0 chooses
  index_t parts = 0;    ///< tasks that share a product with A; 0: one for each GPU, else for each core
  bool vectors = true;  ///< keep V, for apply()
};

/// A reduction whose tasks stand in a graph: A = Q B Q^T with B a symmetric band matrix of half-width b.
template <class T>
class BandReduction {
 public:
  /// Inserts X = Q X or Q^T X. X is n x any, in tiles of whole columns. Throws ArgumentError for other shapes, and
  /// where the vectors were not kept.
  void apply(Graph& g, Op op, const TileMatrix<T>& X) const;

  index_t n() const { return n_; }
  index_t half_width() const { return half_width_; }

 private:
  /// Panels side by side: V is (n - top) x columns, T what belongs to all of them.
  struct Block {
    index_t top, columns;
    TileMatrix<T> v, t, panels;  // the last one: T of each panel
  };
  BandReduction(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& band, const ReduceToBandOptions& options);
  template <class U>
  friend BandReduction<U> reduce_to_band(Graph&, const TileMatrix<U>&, const SymmetricBand<U>&,
                                         const ReduceToBandOptions&);
  void finish_block(Graph& g);
  void reduce_at_once(Graph& g, const Tile<T>& A, const Tile<T>& band, index_t block);

  index_t n_, half_width_;
  bool vectors_;
  std::vector<Block> blocks_;
  std::vector<TileMatrix<T>> work_, z_;  // until the graph has run
};

/// A = Q B Q^T (the first half of LAPACK's sytrd_2stage): A is n x n in tiles of whole columns, symmetric, of which the
/// lower triangle is read, and all of A lost. `band` takes B, and zeros where there is room for bulges. A's tiles have
/// a multiple of its half-width b columns, or all.
///
/// A panel's product with A comes from what A and the gathered V and Z are together, so that A takes `update` columns
/// at once (Dongarra, Hammarling and Sorensen, "Block reduction of matrices to condensed forms for eigenvalue
/// computations", 1989; with a band, Bischof, Lang and Sun's successive band reduction). 4/3 n^3 flops. To half-width 1
/// an A in one tile of order 2048 at most is reduced at once, by a task whose device keeps it. Inserts into the graph
/// and returns. The elements should be of size 1 (products of two of them occur). Throws ArgumentError for
/// other shapes.
template <class T>
[[nodiscard]] BandReduction<T> reduce_to_band(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& band,
                                              const ReduceToBandOptions& options = {});

}  // namespace tesela
