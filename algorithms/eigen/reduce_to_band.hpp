#pragma once

#include <tesela/algorithms/eigen/reflector_blocks.hpp>
#include <tesela/algorithms/eigen/symmetric_band.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// Returns the half-width of the band between the two stages that suits the workers.
inline index_t band_half_width(const WorkerCounts& workers) {
  return workers.gpus > 0 && workers.gpus_on_all_ranks ? 64 : 32;  // 32 for complex numbers
}

/// Options of reduce_to_band.
struct ReduceToBandOptions {
  index_t block = 0;    ///< columns of V and Z per tile, rounded up to a multiple of b; 0 selects them
  index_t update = 0;   ///< columns that are gathered before A is updated, at most `block`; 0 selects them
  index_t parts = 0;    ///< tasks that share a product with A; 0 selects one per GPU, otherwise one per core
  bool vectors = true;  ///< whether to keep V, for apply()
};

/// The reduction A = Q B Q^H, where B is a symmetric or Hermitian band matrix of half-width b.
template <class T>
class BandReduction {
 public:
  /// Inserts X = Q X or, unless `op` is none, X = Q^H X. X is n x any, in tiles of whole columns. Throws ArgumentError
  /// for other shapes, and if the vectors were not kept.
  void apply(Graph& g, Op op, const TileMatrix<T>& X) const;

  /// Return the order of A and the half-width of B.
  index_t n() const { return n_; }
  index_t half_width() const { return half_width_; }

 private:
  BandReduction(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& band, const ReduceToBandOptions& options);
  template <class U>
  friend BandReduction<U> reduce_to_band(Graph&, const TileMatrix<U>&, const SymmetricBand<U>&,
                                         const ReduceToBandOptions&);
  void finish_block(Graph& g);
  void reduce_at_once(Graph& g, const Tile<T>& A, const Tile<T>& band, index_t block);

  index_t n_, half_width_;
  bool vectors_;
  std::vector<ReflectorBlock<T>> blocks_;
  std::vector<TileMatrix<T>> work_, z_;  // kept until the graph has run
};

/// Inserts the reduction A = Q B Q^H (first half of LAPACK's sytrd_2stage or hetrd_2stage): 4/3 n^3 flops.
///
/// A        symmetric or Hermitian n x n in tiles of whole columns; each tile has a multiple of b columns, or all. The
///          lower triangle is read; all of A is overwritten. Its elements should have size 1, because products of two
///          of them occur.
/// band     becomes B, with zeros in the space for bulges; its half-width is b.
/// Returns  the reduction.
/// Throws   ArgumentError for other shapes.
/// Method   A panel's product with A is computed from the old A and the gathered V and Z, so that A is updated for
///          `update` columns at once (Dongarra, Hammarling and Sorensen, "Block reduction of matrices to condensed
///          forms for eigenvalue computations", 1989; with a band: successive band reduction of Bischof, Lang and Sun).
///          For half-width 1, an A in one tile of order at most 2048 is reduced by one task, whose device keeps A.
template <class T>
[[nodiscard]] BandReduction<T> reduce_to_band(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& band,
                                              const ReduceToBandOptions& options = {});

}  // namespace tesela
