#pragma once

#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/real_tridiagonal.hpp>
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>
#include <optional>

namespace tesela {

/// A = Q1 Q2 T Q2^H Q1^H, and the transformation of T's eigenpairs to A's. A banded A needs only the second stage. T of
/// complex numbers is D T' D^H with a real T' and a diagonal D of numbers of magnitude 1.
template <class T>
class TwoStage {
 public:
  struct Options {
    index_t band = 0;   ///< requested half-width; 0 selects it
    index_t found = 0;  ///< half-width of A
    index_t block = 0;
    bool vectors = true;
  };
  /// Inserts the reduction of A, whose elements have size 1.
  TwoStage(Graph& g, const TileMatrix<T>& A, const Options& o) : n_(A.n()), runtime_(g.runtime()), gpu_(g.gpu()) {
    const WorkerCounts workers = workers_for<T>(runtime_);
    const index_t wanted = o.band > 0 ? o.band : band_half_width(workers),
                  b = std::clamp<index_t>(std::min(wanted, std::max<index_t>(o.found, 1)), 1,
                                          std::max<index_t>(n_ - 1, 1));
    const SymmetricBand<T> band(runtime_, n_, b, band_window(workers, n_, b));
    if (o.found > b)
      to_band_.emplace(reduce_to_band(g, A, band, {.block = o.block, .vectors = o.vectors}));
    else
      copy(g, A, band);
    half_width_ = band.half_width();
    to_tridiagonal_.emplace(band_to_tridiagonal(g, band, {.vectors = o.vectors}));
  }

  index_t n() const { return n_; }
  index_t half_width() const { return half_width_; }
  Runtime& runtime() const { return runtime_; }

  TridiagonalEigResult<real_t<T>> eigenvalues() {
    return tridiagonal_eigenvalues<real_t<T>>(runtime_, tridiagonal().d, tridiagonal().e, {.gpu = gpu_});
  }
  /// Computes T's eigenvectors Y and inserts X = Q1 Q2 Y.
  TridiagonalEigResult<real_t<T>> eigenvectors(Graph& g, const TileMatrix<T>& X, IndexRange range) {
    auto found = tridiagonal().eigenvectors(g, X, {.range = range, .gpu = gpu_});
    if (!found.status.ok()) return found;
    to_tridiagonal_->apply(g, Op::none, X);
    if (to_band_) to_band_->apply(g, Op::none, X);
    return found;
  }

 private:
  static void copy(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& band) {
    const index_t w = A.tile_shape().nb, window = band.tiles().tile_shape().nb, n = A.n();
    band.tiles().for_each_tile([&](const Tile<T>& tile, index_t, index_t) {
      g.insert<kernels::Laset<T>>(on_gpu, {T(0), 1}, tile);
    });
    for (index_t j = 0, end = 0; j < n; j = end) {
      end = std::min({n, (j / w + 1) * w, (j / window + 1) * window});
      g.insert<kernels::CopyBand<T>>(on_gpu, {j, j % w, j % window, end - j, band.half_width()}, A(0, j / w),
                                     band.tiles()(0, j / window));
    }
  }
  /// Waits for T.
  const detail::RealTridiagonal<T>& tridiagonal() {
    if (tridiagonal_.d.empty()) tridiagonal_ = {to_tridiagonal_->diagonal(), to_tridiagonal_->off_diagonal()};
    return tridiagonal_;
  }

  index_t n_, half_width_ = 0;
  Runtime& runtime_;
  int gpu_;
  std::optional<BandReduction<T>> to_band_;
  std::optional<BulgeChase<T>> to_tridiagonal_;
  detail::RealTridiagonal<T> tridiagonal_;
};

}  // namespace tesela
