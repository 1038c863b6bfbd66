#pragma once

#include <tesela/algorithms/eigen/symmetric_band.hpp>
#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/runtime/graph.hpp>

#include <optional>
#include <vector>

namespace tesela {

/// Options of band_to_tridiagonal.
struct BandToTridiagonalOptions {
  bool vectors = true;     ///< whether to keep the reflectors, for apply()
  index_t sweeps = 0;      ///< sweeps per task; 0 selects as many as the band's tiles and a core's cache allow
  Priority priority = {};  ///< priority of the tasks that chase bulges
  /// For apply(): sweeps per block reflector, rounded up to a multiple of 4, and sweeps per task; 0 selects them.
  index_t block = 0, bundle = 0;
};

/// The reduction B = Q T Q^T. It shares the band's tiles.
template <class T>
class BulgeChase {
 public:
  /// Return T: its diagonal (n) and off-diagonal (n - 1). They wait for the tasks that write T.
  std::vector<T> diagonal() const { return band_.diagonal(0); }
  std::vector<T> off_diagonal() const { return band_.diagonal(1); }

  /// Inserts X = Q X or X = Q^T X; may be called any number of times.
  ///
  /// X       n x any in any tiles. The columns of each tile column form one task per bundle of sweeps; about 100
  ///         columns suit a core.
  /// Throws  ArgumentError if X has another height or the reflectors were not kept.
  /// Method  2 n^2 flops per column, and up to a quarter more on zeros.
  void apply(Graph& g, Op op, const TileMatrix<T>& X) const;

  /// Return the order n, the half-width b, and whether the reflectors are kept for apply().
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
  std::vector<TileMatrix<T>> reflectors_;  // reflectors of each group; without vectors, of a few groups in turn
  TileMatrix<T> none_;
  std::optional<TileMatrix<T>> factors_;  // factors of a few bundles, in turn
};

/// Inserts the reduction B = Q T Q^T with T tridiagonal and Q orthogonal (LAPACK sbtrd, lower): 6 b n^2 flops.
///
/// B        overwritten; T occupies rows 0 and 1 of its storage. A factor 2^k in B scales T exactly. NaN and infinite
///          elements spread.
/// Returns  the reduction.
/// Throws   ArgumentError for negative options.
/// Method   Householder reflectors chase bulges: groups of sweeps in windows of the band, each group two windows behind
///          the previous one, so that sweeps begin before the last tiles of B are written. Haidar, Ltaief, Dongarra,
///          "Parallel reduction to condensed forms for symmetric eigenvalue problems using aggregated fine-grained and
///          memory-aware kernels", SC11; Bischof, Lang, Sun, "A framework for symmetric band reduction", 2000.
template <class T>
[[nodiscard]] BulgeChase<T> band_to_tridiagonal(Graph& g, const SymmetricBand<T>& B,
                                                const BandToTridiagonalOptions& options = {});

/// Returns the columns per tile of a band for these workers: all columns with a GPU, otherwise a multiple of the
/// half-width, clamped as in SymmetricBand.
index_t band_window(const WorkerCounts& workers, index_t n, index_t half_width);

}  // namespace tesela
