#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_refinement.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tesela {

/// Returns a matrix with the shape and the tiles of `a`.
template <class U, class T>
TileMatrix<U> alike(Runtime& runtime, const TileMatrix<T>& a, const char* name) {
  return TileMatrix<U>(runtime, a.m(), a.n(), a.tile_shape(), name);
}

/// Throws ArgumentError unless A and B conform as tridiagonal_solve requires.
template <class T>
void require_fit(const char* routine, const Tridiagonal<T>& A, const TileMatrix<T>& B, bool columns) {
  const auto text = [](const TileMatrix<T>& a) {
    return to_string(Shape{a.m(), a.n()}) + " in tiles of " + to_string(Shape{a.tile_shape().mb, a.tile_shape().nb});
  };
  const auto same = [](index_t a, index_t b, index_t a_tiles, index_t b_tiles, index_t a_tile, index_t b_tile) {
    return a == b && a_tiles == b_tiles && (a_tiles <= 1 || a_tile == b_tile);
  };
  for (const auto& [band, name] : {std::pair{&A.dl, "A.dl"}, std::pair{&A.d, "A.d"}, std::pair{&A.du, "A.du"}}) {
    const auto [mb, nb] = band->tile_shape();
    const bool rows = same(band->m(), B.m(), band->mt(), B.mt(), mb, B.tile_shape().mb);
    const bool cols = same(band->n(), B.n(), band->nt(), B.nt(), nb, B.tile_shape().nb);
    const bool single = (columns ? A.d.n() : A.d.m()) == 1 && (columns ? band->n() : band->m()) == 1;
    require((columns ? rows : cols) && (single || (columns ? cols : rows)), routine, name, text(*band), "; B is ",
            text(B));
    require(!band->shares_tiles(B), routine, name, "shares tiles with B");
  }
}

/// Measures by tasks how accurately X solves A X = B, system by system. Shapes and tiles are X's.
template <class T>
class TridiagonalResiduals {
 public:
  TridiagonalResiduals(Runtime& runtime, const TileMatrix<T>& X, SystemsIn systems, bool periodic)
      : systems_(systems),
        periodic_(periodic),
        columns_(systems == SystemsIn::columns),
        n_(columns_ ? X.m() : X.n()),
        tiles_(columns_ ? X.mt() : X.nt()),
        groups_(columns_ ? X.nt() : X.mt()),
        along_(columns_ ? X.tile_shape().mb : X.tile_shape().nb),
        across_(columns_ ? X.tile_shape().nb : X.tile_shape().mb),
        parts_(runtime, tiles_ * kernels::tridiagonal::misfits(std::min(along_, n_)), columns_ ? X.n() : X.m(),
               {kernels::tridiagonal::misfits(std::min(along_, n_)), across_}, "misfits"),
        whole_(runtime, 1, columns_ ? X.n() : X.m(), {1, across_}, "misfit"),
        verdicts_(runtime, 1, groups_, {1, 1}, "verdict") {}

  /// Measures X and waits for the result. misfit() then describes X. `r` becomes B - A X with scaled rows, unless it is
  /// null. `probe` is the argument of TridiagonalResidual.
  kernels::tridiagonal::Verdict<real_t<T>> measure(
      Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const TileMatrix<T>& B, const TileMatrix<T>* r,
      const typename kernels::TridiagonalEvaluate<real_t<T>>::Args& tolerances, std::uint64_t probe = 0) const {
    auto judge = tolerances;
    judge.n = n_;
    for (index_t s = 0; s < groups_; ++s) {
      std::vector<Tile<kernels::tridiagonal::SystemResidual<real_t<T>>>> parts;
      for (index_t t = 0; t < tiles_; ++t) {
        const auto place = place_of(t);
        const index_t before = t > 0 ? t - 1 : tiles_ - 1, after = t + 1 < tiles_ ? t + 1 : 0;
        parts.push_back(parts_(t, s));
        std::vector<Tile<T>> out;
        if (r != nullptr) out.push_back(tile(*r, t, s));
        g.insert<kernels::TridiagonalResidual<T>>({place, t * along_, probe}, band(A.dl, t, s), band(A.d, t, s),
                                                  band(A.du, t, s), tile(X, place.before ? before : t, s),
                                                  tile(X, t, s), tile(X, place.behind ? after : t, s), tile(B, t, s),
                                                  parts_(t, s), out);
      }
      g.insert<kernels::TridiagonalEvaluate<real_t<T>>>(urgent, judge, whole_(0, s), verdicts_(0, s), parts);
    }
    kernels::tridiagonal::Verdict<real_t<T>> worst;
    for (index_t s = 0; s < groups_; ++s) {
      kernels::tridiagonal::Verdict<real_t<T>> one = verdicts_(0, s).read()(0, 0);
      one.row += s * across_ * n_;
      worsen(worst, one);
    }
    return worst;
  }

  /// Calls f(t, s) for each tile: t along the systems, s across them.
  template <class F>
  void for_each_tile(F f) const {
    for (index_t s = 0; s < groups_; ++s)
      for (index_t t = 0; t < tiles_; ++t) f(t, s);
  }

  /// Returns tile t, along the systems, and s, across them, of a matrix like X.
  template <class U>
  Tile<U> tile(const TileMatrix<U>& a, index_t t, index_t s) const {
    return columns_ ? a(t, s) : a(s, t);
  }
  /// Returns the same tile of a diagonal, which may hold a single system for all.
  template <class U>
  Tile<U> band(const TileMatrix<U>& a, index_t t, index_t s) const {
    return tile(a, t, (columns_ ? a.n() : a.m()) == 1 ? 0 : s);
  }
  /// Returns the layout and the position of tile t.
  kernels::tridiagonal::SystemsTile place_of(index_t t) const {
    return {systems_, t > 0 || periodic_, t + 1 < tiles_ || periodic_, n_};
  }
  /// Returns the misfits of the systems of group s, 1 x systems.
  Tile<kernels::tridiagonal::SystemResidual<real_t<T>>> misfit(index_t s) const { return whole_(0, s); }
  /// Returns the misfits of all systems in their order. Waits for them.
  std::vector<kernels::tridiagonal::SystemResidual<real_t<T>>> all() const {
    std::vector<kernels::tridiagonal::SystemResidual<real_t<T>>> every(static_cast<std::size_t>(whole_.n()));
    if (!every.empty()) whole_.copy_to(every.data(), 1);
    return every;
  }
  index_t n() const { return n_; }

  /// Inserts A in precision L, each row multiplied by a power of two that brings its largest entry into [2, 4).
  template <class L>
  Tridiagonal<L> scaled(Graph& g, const Tridiagonal<T>& A) const {
    Tridiagonal<L> to{alike<L>(g.runtime(), A.dl, "dl"), alike<L>(g.runtime(), A.d, "d"),
                      alike<L>(g.runtime(), A.du, "du")};
    for (index_t s = 0; s < (columns_ ? A.d.nt() : A.d.mt()); ++s)
      for (index_t t = 0; t < tiles_; ++t)
        g.insert<kernels::TridiagonalConvert<T, L>>(place_of(t), tile(A.dl, t, s), tile(A.d, t, s), tile(A.du, t, s),
                                                    tile(to.dl, t, s), tile(to.d, t, s), tile(to.du, t, s));
    return to;
  }

  /// Inserts the solution Y of (A's scaled rows) Y = R, with R scaled by its system's correction. `low` is scaled().
  template <class L>
  void solve(Graph& g, const Tridiagonal<L>& low, const TileMatrix<T>& r, const TileMatrix<L>& y,
             bool equilibrate) const {
    for_each_tile([&](index_t t, index_t s) {
      g.insert<kernels::TridiagonalDemote<T, L>>({systems_}, tile(r, t, s), misfit(s), tile(y, t, s));
    });
    tridiagonal_solve(g, low, y, {systems_, periodic_, equilibrate});
  }

  /// Inserts X += Y, where Y solves (A's scaled rows) Y = R with R scaled to size 1 system by system. `low` is
  /// scaled().
  template <class L>
  void correct(Graph& g, const Tridiagonal<L>& low, const TileMatrix<T>& r, const TileMatrix<L>& y,
               const TileMatrix<T>& X, bool equilibrate) const {
    solve(g, low, r, y, equilibrate);
    for_each_tile([&](index_t t, index_t s) {
      g.insert<kernels::TridiagonalCorrect<T, L>>({systems_}, tile(y, t, s), misfit(s), tile(X, t, s));
    });
  }

 private:
  SystemsIn systems_;
  bool periodic_, columns_;
  index_t n_, tiles_, groups_, along_, across_;
  TileMatrix<kernels::tridiagonal::SystemResidual<real_t<T>>> parts_, whole_;
  TileMatrix<kernels::tridiagonal::Verdict<real_t<T>>> verdicts_;
};

}  // namespace tesela
