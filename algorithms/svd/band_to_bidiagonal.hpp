#pragma once

#include <tesela/algorithms/eigen/bulge_reflectors.hpp>
#include <tesela/algorithms/svd/reduce_to_upper_band.hpp>

#include <vector>

namespace tesela {

/// The reduction B = Q_L B' Q_R^H of an upper band matrix to upper bidiagonal form. It shares the band's tiles.
template <class T>
class BidiagonalChase {
 public:
  /// Returns the diagonal of B' (n), whose first element may be complex. Waits for the tasks that write B'.
  std::vector<T> diagonal() const { return band_.diagonal(0); }
  /// Returns the super-diagonal of B' (n - 1), whose last element may be complex. Waits for the tasks that write B'.
  std::vector<T> off_diagonal() const { return band_.diagonal(1); }

  /// Inserts X = Q X or, unless `op` is none, X = Q^H X with Q = Q_L (left) or Q = Q_R (right); may be called any
  /// number of times.
  ///
  /// X       n x any in any tiles; about 100 columns per tile suit a core.
  /// Throws  ArgumentError if X has another height or the reflectors were not kept.
  /// Method  2 n^2 flops per column, and up to a quarter more on zeros.
  void apply(Graph& g, Side side, Op op, const TileMatrix<T>& X) const {
    (side == Side::left ? left_ : right_).apply(g, op, X);
  }

 private:
  BidiagonalChase(Graph& g, const UpperBand<T>& band, const BulgeOptions& options);
  template <class U>
  friend BidiagonalChase<U> band_to_bidiagonal(Graph&, const UpperBand<U>&, const BulgeOptions&);

  UpperBand<T> band_;
  kernels::BulgePlan plan_;
  BulgeReflectors<T> left_, right_;
  TileMatrix<T> none_;
};

/// Inserts the reduction B = Q_L B' Q_R^H with B' upper bidiagonal (LAPACK gbbrd): 8 b n^2 flops. A GPU
/// chases bands of half-width up to 64.
///
/// B        overwritten; B' occupies two rows of its storage. A factor 2^k in B scales B' exactly. NaN and infinite
///          elements spread.
/// Returns  the reduction.
/// Throws   ArgumentError for negative options.
/// Method   As band_to_tridiagonal, with a reflector of columns before each reflector of rows.
template <class T>
[[nodiscard]] BidiagonalChase<T> band_to_bidiagonal(Graph& g, const UpperBand<T>& B, const BulgeOptions& options = {});

}  // namespace tesela
