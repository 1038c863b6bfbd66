#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_scale.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <vector>

namespace tesela {
namespace detail {

/// A matrix with indices along and across its systems.
template <class T>
struct SystemTiles {
  const TileMatrix<T>& matrix;
  bool columns;

  index_t along() const { return columns ? matrix.m() : matrix.n(); }
  index_t across() const { return columns ? matrix.n() : matrix.m(); }
  index_t tiles_along() const { return columns ? matrix.mt() : matrix.nt(); }
  index_t tiles_across() const { return columns ? matrix.nt() : matrix.mt(); }
  index_t tile_along() const { return columns ? matrix.tile_shape().mb : matrix.tile_shape().nb; }
  index_t tile_across() const { return columns ? matrix.tile_shape().nb : matrix.tile_shape().mb; }
  Tile<T> operator()(index_t i, index_t s) const { return columns ? matrix(i, s) : matrix(s, i); }
};

}  // namespace detail

/// Copies of a matrix's bands whose columns and rows are scaled by powers of two (TridiagonalExponents). Its tasks run
/// on cores. Right-hand sides and solutions have the shape and tiles of B.
template <class T>
class TridiagonalEquilibration {
 public:
  TridiagonalEquilibration(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, kernels::SystemsIn systems,
                           bool periodic)
      : systems_(systems),
        columns_(systems == kernels::SystemsIn::columns),
        scaled_{shaped(g, A, "dl"), shaped(g, A, "d"), shaped(g, A, "du")},
        exponents_(g.runtime(), widest(A).m(), widest(A).n(),
                   columns_ ? TileShape{B.m(), widest(A).tile_shape().nb} : TileShape{widest(A).tile_shape().mb, B.n()},
                   "exponents"),
        rows_(g.runtime(), widest(A).m(), widest(A).n(), widest(A).tile_shape(), "rows"),
        sizes_(g.runtime(), 2, columns_ ? B.n() : B.m(), {2, columns_ ? B.tile_shape().nb : B.tile_shape().mb},
               "sizes") {
    const detail::SystemTiles<T> dl{A.dl, columns_}, d{A.d, columns_}, du{A.du, columns_};
    const detail::SystemTiles<T> to_dl{scaled_.dl, columns_}, to_d{scaled_.d, columns_}, to_du{scaled_.du, columns_};
    const detail::SystemTiles<index_t> exponents{exponents_, columns_}, rows{rows_, columns_};
    for (index_t s = 0; s < rows.tiles_across(); ++s) {
      const auto band = [&](const detail::SystemTiles<T>& a, index_t i) { return a(i, a.across() == 1 ? 0 : s); };
      std::vector<Tile<T>> bands;
      for (index_t i = 0; i < rows.tiles_along(); ++i)
        for (const detail::SystemTiles<T>* a : {&dl, &d, &du}) bands.push_back(band(*a, i));
      g.insert<kernels::TridiagonalExponents<T>>({systems, periodic}, exponents(0, s), bands);
      for (index_t i = 0; i < rows.tiles_along(); ++i)
        g.insert<kernels::TridiagonalScale<T>>({systems, periodic, i * rows.tile_along()}, band(dl, i), band(d, i),
                                               band(du, i), exponents(0, s), to_dl(i, s), to_d(i, s), to_du(i, s),
                                               rows(i, s));
    }
  }

  const Tridiagonal<T>& scaled() const { return scaled_; }

  /// Inserts B = R B / s, where R is the scaling of A's rows and s, for each system, a power of two that avoids
  /// overflow. If the result is not finite, the graph's status reports it.
  void scale_rows(Graph& g, const TileMatrix<T>& B) const {
    const detail::SystemTiles<T> b{B, columns_};
    const detail::SystemTiles<index_t> rows{rows_, columns_};
    for (index_t s = 0; s < b.tiles_across(); ++s) {
      g.insert<kernels::TridiagonalClearSize<T>>({}, sizes_(0, s));
      for (index_t i = 0; i < b.tiles_along(); ++i)
        g.insert<kernels::TridiagonalSize<T>>({systems_}, b(i, s), rows(i, rows.tiles_across() == 1 ? 0 : s),
                                              sizes_(0, s));
    }
    scale(g, B, rows_, kernels::ScaleBy::rows);
  }
  /// Inserts X = C X s after scale_rows, where C is the scaling of A's columns; or the inverse operation.
  void scale_columns(Graph& g, const TileMatrix<T>& X, bool inverse = false) const {
    scale(g, X, exponents_, inverse ? kernels::ScaleBy::undo_columns : kernels::ScaleBy::columns);
  }

 private:
  /// Returns a band that has a column for each system, unless all bands hold for all systems.
  const TileMatrix<T>& widest(const Tridiagonal<T>& A) const {
    const TileMatrix<T>* widest = &A.d;
    for (const TileMatrix<T>* band : {&A.dl, &A.du})
      if (detail::SystemTiles<T>{*band, columns_}.across() > detail::SystemTiles<T>{*widest, columns_}.across())
        widest = band;
    return *widest;
  }
  TileMatrix<T> shaped(Graph& g, const Tridiagonal<T>& A, const char* name) const {
    const TileMatrix<T>& as = widest(A);
    return TileMatrix<T>(g.runtime(), as.m(), as.n(), as.tile_shape(), name);
  }

  void scale(Graph& g, const TileMatrix<T>& matrix, const TileMatrix<index_t>& powers, kernels::ScaleBy how) const {
    const bool of_all = how != kernels::ScaleBy::rows;
    const detail::SystemTiles<T> B{matrix, columns_};
    const detail::SystemTiles<index_t> by{powers, columns_};
    const index_t n = B.along();
    for (index_t s = 0; s < B.tiles_across(); ++s)
      for (index_t i = 0; i < B.tiles_along(); ++i) {
        const index_t first = i * B.tile_along(), of = by.tiles_across() == 1 ? 0 : s;
        g.insert<kernels::TridiagonalScaleVector<T>>({systems_, of_all ? first : 0, n, how}, B(i, s),
                                                     by(of_all ? 0 : i, of), sizes_(0, s),
                                                     g.status(first + s * B.tile_across() * n));
      }
  }

  kernels::SystemsIn systems_;
  bool columns_;
  Tridiagonal<T> scaled_;
  TileMatrix<index_t> exponents_, rows_, sizes_;
};

}  // namespace tesela
