#pragma once

#include <tesela/algorithms/eigen/symmetric_band.hpp>
#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/runtime/graph.hpp>

#include <optional>
#include <vector>

namespace tesela {

struct BandToTridiagonalOptions {
  bool vectors = true;     ///< keep the reflectors, for apply()
  index_t sweeps = 0;      ///< of one task; 0: as many as the band's tiles allow, and a core's cache
  Priority priority = {};  ///< of the tasks that chase
  // For apply(): sweeps of one block reflector, rounded up to a multiple of 4, and of one task; 0 chooses.
  index_t block = 0, bundle = 0;
};

/// B = Q T Q^T whose tasks stand in a graph. It shares the band's tiles.
template <class T>
class BulgeChase {
 public:
  /// Of T: n and n - 1 numbers. They wait for the tasks that write them.
  std::vector<T> diagonal() const { return band_.diagonal(0); }
  std::vector<T> off_diagonal() const { return band_.diagonal(1); }

  /// Inserts X = Q X or X = Q^T X. X is n x any in any tiles; the columns of each tile column are a task of their own
  /// for each bundle of sweeps, with all tiles that they have in the bundle's rows; some 100 columns suit a core. 2 n^2
  /// flops a column, and up to a quarter more on zeros. Any number of times. Throws ArgumentError where X has another
  /// height, or the reflectors were not kept.
  void apply(Graph& g, Op op, const TileMatrix<T>& X) const;

  index_t order() const { return plan_.n; }
  index_t half_width() const { return plan_.b; }
  bool vectors() const { return vectors_; }

 private:
  BulgeChase(Graph& g, const SymmetricBand<T>& band, const BandToTridiagonalOptions& options);
  template <class U>
  friend BulgeChase<U> band_to_tridiagonal(Graph&, const SymmetricBand<U>&, const BandToTridiagonalOptions&);
  Tile<T> reflectors(index_t group, index_t window) const;

  SymmetricBand<T> band_;
  kernels::BulgePlan plan_;
  kernels::BulgeBlocks blocks_;
  bool vectors_;
  std::vector<TileMatrix<T>> reflectors_;  // of each group; without vectors of few, in turn
  TileMatrix<T> none_;
  std::optional<TileMatrix<T>> factors_;  // of a few bundles, in turn
};

/// B = Q T Q^T with T tridiagonal and Q orthogonal (LAPACK sbtrd, lower) by chasing bulges with Householder reflectors,
/// in 6 b n^2 flops: groups of sweeps in windows of the band, each group two windows behind the one before, so that
/// sweeps begin while later tiles of B are still being written. B is lost: T takes rows 0 and 1 of its storage. Inserts
/// into the graph and returns. T scales with B to the bit by powers of two; NaN and infinite elements spread. Throws
/// ArgumentError for negative options.
///
/// Haidar, Ltaief, Dongarra, "Parallel reduction to condensed forms for symmetric eigenvalue problems using aggregated
/// fine-grained and memory-aware kernels", SC11; Bischof, Lang, Sun, "A framework for symmetric band reduction", 2000.
template <class T>
[[nodiscard]] BulgeChase<T> band_to_tridiagonal(Graph& g, const SymmetricBand<T>& B,
                                                const BandToTridiagonalOptions& options = {});

/// The columns of a tile of a band that suit this machine's workers: on a GPU all, else a multiple of the half-width,
/// clamped as SymmetricBand clamps it.
index_t suitable_band_window(const WorkerCounts& workers, index_t n, index_t half_width);

}  // namespace tesela
