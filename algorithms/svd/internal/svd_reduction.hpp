#pragma once

#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/svd/band_to_bidiagonal.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tesela::detail {

/// A = U1 U2 B' V2^H V1^H with B' bidiagonal, for a square A.
template <class T>
class SvdReduction {
 public:
  /// Overwrites A.
  SvdReduction(Graph& g, TileMatrix<T> A, index_t half_width, bool vectors)
      : g_(g),
        band_(g.runtime(), A.n(), half_width, band_window(workers_for<T>(g.runtime()), A.n(), half_width)),
        A_(std::move(A)),
        to_band_(reduce_to_upper_band(g, A_, band_, {.vectors = vectors})),
        chase_(band_to_bidiagonal(g, band_, {.vectors = vectors})) {}

  index_t n() const { return A_.n(); }
  index_t half_width() const { return band_.half_width(); }
  /// Return the diagonals of B'. They wait.
  std::vector<T> diagonal() const { return chase_.diagonal(); }
  std::vector<T> off_diagonal() const { return chase_.off_diagonal(); }

  /// Inserts X = U1 U2 X, or X = V1 V2 X for Side::right.
  void apply(Side side, const TileMatrix<T>& X) const {
    chase_.apply(g_, side, Op::none, X);
    to_band_.apply(g_, side, Op::none, X);
  }
  /// Returns the product with x. Waits.
  HostMatrix<T> times(Side side, HostMatrix<T> x) const {
    if (x.cols() == 0) return x;
    const index_t wide = std::max<index_t>(eigenvectors_tile(workers_for<T>(g_.runtime()), x.rows(), x.cols()), 1);
    const auto X = TileMatrix<T>::map(g_.runtime(), x.data(), x.rows(), x.cols(), x.ld(), {x.rows(), wide}, "X");
    apply(side, X);
    g_.wait();
    X.bring_home();
    return x;
  }

 private:
  Graph& g_;
  UpperBand<T> band_;
  TileMatrix<T> A_;
  UpperBandReduction<T> to_band_;
  BidiagonalChase<T> chase_;
};

}  // namespace tesela::detail
