#pragma once

#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <vector>

namespace tesela {

/// Options of the chases of bulges, band_to_tridiagonal and band_to_bidiagonal.
struct BulgeOptions {
  bool vectors = true;     ///< whether to keep the reflectors, for apply()
  index_t sweeps = 0;      ///< sweeps per task; 0 selects as many as the band's tiles and a core's cache allow
  Priority priority = {};  ///< priority of the tasks that chase bulges
  index_t block = 0;       ///< for apply(): sweeps per block reflector, rounded up to a multiple of 4; 0 selects them
  index_t bundle = 0;      ///< for apply(): sweeps per task; 0 selects them. GPUs without cores limit both
};

/// The reflectors of a chase of bulges, Q = their product in the order of the sweeps.
template <class T>
class BulgeReflectors {
 public:
  /// Allocates the tiles. Throws ArgumentError for negative options.
  ///
  /// workers  the workers that chase; they determine the defaults of the options.
  BulgeReflectors(Runtime& runtime, const WorkerCounts& workers, const kernels::BulgePlan& plan,
                  const BulgeOptions& options);

  /// Returns the tile of a group's reflectors in a window, which a task of the chase writes.
  Tile<T> tile(index_t group, index_t window) const;

  /// Inserts X = Q X or X = Q^H X, as BulgeChase::apply. Throws ArgumentError for another height of X, and if the
  /// reflectors were not kept.
  void apply(Graph& g, Op op, const TileMatrix<T>& X) const;

  /// Returns whether the reflectors are kept for apply().
  bool kept() const { return kept_; }

 private:
  kernels::BulgePlan plan_;
  kernels::BulgeBlocks blocks_;
  bool kept_;
  std::vector<TileMatrix<T>> groups_;     // reflectors of each group; if not kept, of a few groups in turn
  std::optional<TileMatrix<T>> factors_;  // factors of a few bundles, in turn
};

/// Returns the plan of a chase down a band of order n in tiles of `window` columns. Throws ArgumentError for a negative
/// options.sweeps, and for a half-width beyond largest_half_width() if there are GPUs and no cores.
kernels::BulgePlan bulge_plan(const WorkerCounts& workers, index_t n, index_t half_width, index_t window,
                              std::size_t element, const BulgeOptions& options);

/// Returns whether a GPU of these workers chases bulges; it runs many sweeps concurrently on a band in one tile.
bool chases_on_gpu(const WorkerCounts& workers, index_t half_width);

/// Returns the widest band whose reflectors GPUs apply. They apply a complex reflector as a real reflector of twice the
/// width.
index_t largest_half_width(const WorkerCounts& workers);

/// Returns the priority on a GPU, or on a core if `gpu` is false because the GPU variant does not support the sizes.
Priority chase_priority(bool gpu, Priority priority);

/// Returns the columns per tile of a band for these workers: all columns with a GPU, otherwise a multiple of the
/// half-width, clamped as in SymmetricBand.
index_t band_window(const WorkerCounts& workers, index_t n, index_t half_width);

}  // namespace tesela
