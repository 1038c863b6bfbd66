#pragma once

#include <tesela/algorithms/eigen/bulge_reflectors.hpp>
#include <tesela/algorithms/eigen/symmetric_band.hpp>
#include <tesela/runtime/graph.hpp>

#include <vector>

namespace tesela {

/// The reduction B = Q T Q^H. It shares the band's tiles.
template <class T>
class BulgeChase {
 public:
  /// Return T: its diagonal (n), whose imaginary parts are 0, and its off-diagonal (n - 1), whose last elements may be
  /// complex. They wait for the tasks that write T.
  std::vector<T> diagonal() const { return band_.diagonal(0); }
  std::vector<T> off_diagonal() const { return band_.diagonal(1); }

  /// Inserts X = Q X or, unless `op` is none, X = Q^H X; may be called any number of times.
  ///
  /// X       n x any in any tiles. The columns of each tile column form one task per bundle of sweeps; about 100
  ///         columns suit a core.
  /// Throws  ArgumentError if X has another height or the reflectors were not kept.
  /// Method  2 n^2 flops per column, and up to a quarter more on zeros.
  void apply(Graph& g, Op op, const TileMatrix<T>& X) const { reflectors_.apply(g, op, X); }

  /// Return the order n, the half-width b, and whether the reflectors are kept for apply().
  index_t order() const { return plan_.n; }
  index_t half_width() const { return plan_.b; }
  bool vectors() const { return reflectors_.kept(); }

 private:
  BulgeChase(Graph& g, const SymmetricBand<T>& band, const BulgeOptions& options);
  template <class U>
  friend BulgeChase<U> band_to_tridiagonal(Graph&, const SymmetricBand<U>&, const BulgeOptions&);

  SymmetricBand<T> band_;
  kernels::BulgePlan plan_;
  BulgeReflectors<T> reflectors_;
  TileMatrix<T> none_;
};

/// Inserts the reduction B = Q T Q^H with T tridiagonal and Q orthogonal or unitary (LAPACK sbtrd or hbtrd, lower): 6 b
/// n^2 flops.
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
[[nodiscard]] BulgeChase<T> band_to_tridiagonal(Graph& g, const SymmetricBand<T>& B, const BulgeOptions& options = {});

}  // namespace tesela
