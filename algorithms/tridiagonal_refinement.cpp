#include "algorithms/tridiagonal_refinement.hpp"

#include "algorithms/matrices.hpp"
#include "codelets/lacpy.hpp"
#include "codelets/tridiagonal_refinement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela {
namespace {

using tridiagonal::Misfit;
using tridiagonal::Verdict;

template <class U, class T>
TileMatrix<U> like(Runtime& runtime, const TileMatrix<T>& a, const char* name) {
  return TileMatrix<U>(runtime, a.m(), a.n(), a.tile_shape(), name);
}

/// Throws ArgumentError unless A fits B as tridiagonal_solve wants it: here before B is touched.
template <class T>
void require_fit(const Tridiagonal<T>& A, const TileMatrix<T>& B, bool columns) {
  const auto text = [](const TileMatrix<T>& a) {
    return std::to_string(a.m()) + " x " + std::to_string(a.n()) + " in tiles of " + std::to_string(a.tile_shape().mb) +
           " x " + std::to_string(a.tile_shape().nb);
  };
  const auto alike = [](index_t a, index_t b, index_t a_tiles, index_t b_tiles, index_t a_tile, index_t b_tile) {
    return a == b && a_tiles == b_tiles && (a_tiles <= 1 || a_tile == b_tile);
  };
  for (const auto& [band, name] : {std::pair{&A.dl, "A.dl"}, std::pair{&A.d, "A.d"}, std::pair{&A.du, "A.du"}}) {
    const auto [mb, nb] = band->tile_shape();
    const bool rows = alike(band->m(), B.m(), band->mt(), B.mt(), mb, B.tile_shape().mb);
    const bool cols = alike(band->n(), B.n(), band->nt(), B.nt(), nb, B.tile_shape().nb);
    const bool single = (columns ? A.d.n() : A.d.m()) == 1 && (columns ? band->n() : band->m()) == 1;
    if (!(columns ? rows : cols) || !(single || (columns ? cols : rows)))
      throw ArgumentError("tridiagonal_solve_refined", name, text(*band) + "; B is " + text(B));
    if (band->shares_tiles(B)) throw ArgumentError("tridiagonal_solve_refined", name, "shares tiles with B");
  }
}

/// One refinement: what it keeps from a correction to the next. Solves in precision L.
template <class T, class L>
class Refinement {
  static constexpr bool mixed = !std::is_same_v<T, L>;

 public:
  Refinement(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const RefinementOptions& options)
      : g_(g),
        options_(options),
        columns_(options.systems == SystemsIn::columns),
        a_(A),
        x_(X),
        b_(like<T>(g.runtime(), X, "b")),
        r_(like<T>(g.runtime(), X, "r")),
        y_(like<L>(g.runtime(), X, "y")),
        n_(columns_ ? X.m() : X.n()),
        tiles_(columns_ ? X.mt() : X.nt()),
        groups_(columns_ ? X.nt() : X.mt()),
        along_(columns_ ? X.tile_shape().mb : X.tile_shape().nb),
        across_(columns_ ? X.tile_shape().nb : X.tile_shape().mb),
        misfits_(g.runtime(), tiles_ * tridiagonal::misfits(std::min(along_, n_)), columns_ ? X.n() : X.m(),
                 {tridiagonal::misfits(std::min(along_, n_)), across_}, "misfits"),
        whole_(g.runtime(), 1, columns_ ? X.n() : X.m(), {1, across_}, "misfit"),
        verdicts_(g.runtime(), 1, groups_, {1, 1}, "verdict"),
        tolerance_(options.tolerance > 0 ? static_cast<T>(options.tolerance) : 4 * std::numeric_limits<T>::epsilon()),
        low_(lower(A)) {
    for (index_t s = 0; s < groups_; ++s)
      for (index_t t = 0; t < tiles_; ++t) g.insert<Lacpy<T>>({}, tile(x_, t, s), tile(b_, t, s));
    fill(g, x_, Generator<T>{});  // X = 0 leaves all of B as the first residual
  }

  /// Computes the residual, and waits for what there is to know of it.
  Verdict<T> judge() {
    for (index_t s = 0; s < groups_; ++s) {
      std::vector<Tile<Misfit<T>>> misfits;
      for (index_t t = 0; t < tiles_; ++t) {
        const auto place = place_of(t);
        const index_t before = t > 0 ? t - 1 : tiles_ - 1, after = t + 1 < tiles_ ? t + 1 : 0;
        misfits.push_back(misfits_(t, s));
        g_.insert<TridiagonalResidual<T>>({place, mixed, t * along_}, band(a_.dl, t, s), band(a_.d, t, s),
                                          band(a_.du, t, s), tile(x_, place.before ? before : t, s), tile(x_, t, s),
                                          tile(x_, place.behind ? after : t, s), tile(b_, t, s), tile(r_, t, s),
                                          misfits_(t, s));
      }
      g_.insert<TridiagonalJudge<T>>(urgent, {tolerance_, mixed, n_}, whole_(0, s), verdicts_(0, s), misfits);
    }
    Verdict<T> worst;
    for (index_t s = 0; s < groups_; ++s) {
      Verdict<T> one = verdicts_(0, s).read()(0, 0);
      one.row += s * across_ * n_;
      worsen(worst, one);
    }
    return worst;
  }

  void correct() {
    for (index_t s = 0; s < groups_; ++s)
      for (index_t t = 0; t < tiles_; ++t)
        g_.insert<TridiagonalDemote<T, L>>({options_.systems}, tile(r_, t, s), whole_(0, s), tile(y_, t, s));
    tridiagonal_solve(g_, low_, y_, {options_.systems, options_.periodic});
    for (index_t s = 0; s < groups_; ++s)
      for (index_t t = 0; t < tiles_; ++t)
        g_.insert<TridiagonalCorrect<T, L>>({options_.systems}, tile(y_, t, s), whole_(0, s), tile(x_, t, s));
  }

 private:
  template <class U>
  Tile<U> tile(const TileMatrix<U>& a, index_t t, index_t s) const {
    return columns_ ? a(t, s) : a(s, t);
  }
  Tile<T> band(const TileMatrix<T>& a, index_t t, index_t s) const {
    return tile(a, t, (columns_ ? a.n() : a.m()) == 1 ? 0 : s);
  }
  tridiagonal::Place place_of(index_t t) const {
    return {options_.systems, t > 0 || options_.periodic, t + 1 < tiles_ || options_.periodic, n_};
  }

  /// A in the precision of the solves.
  Tridiagonal<L> lower(const Tridiagonal<T>& A) const {
    if constexpr (!mixed) {
      return A;
    } else {
      Tridiagonal<L> low{like<L>(g_.runtime(), A.dl, "dl"), like<L>(g_.runtime(), A.d, "d"),
                         like<L>(g_.runtime(), A.du, "du")};
      for (index_t s = 0; s < (columns_ ? A.d.nt() : A.d.mt()); ++s)
        for (index_t t = 0; t < tiles_; ++t)
          g_.insert<TridiagonalConvert<T, L>>(place_of(t), tile(A.dl, t, s), tile(A.d, t, s), tile(A.du, t, s),
                                              tile(low.dl, t, s), tile(low.d, t, s), tile(low.du, t, s));
      return low;
    }
  }

  Graph& g_;
  const RefinementOptions options_;
  const bool columns_;
  const Tridiagonal<T> a_;
  const TileMatrix<T> x_, b_, r_;
  const TileMatrix<L> y_;
  const index_t n_, tiles_, groups_, along_, across_;
  const TileMatrix<Misfit<T>> misfits_, whole_;
  const TileMatrix<Verdict<T>> verdicts_;
  const T tolerance_;
  const Tridiagonal<L> low_;
};

template <class T, class L>
RefinedSolve refine(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, const RefinementOptions& options) {
  RefinedSolve result;
  result.status = g.wait();
  if (!result.status.ok()) return result;
  result.converged = true;
  if (B.m() == 0 || B.n() == 0) return result;

  Refinement<T, L> refinement(g, A, B, options);
  Verdict<T> verdict = refinement.judge();
  double best = std::numeric_limits<double>::infinity();
  int solves = 0;
  for (int slow = 0; verdict.open > 0 && solves <= options.iterations && slow < 2; ++solves) {
    refinement.correct();
    verdict = refinement.judge();
    const auto error = static_cast<double>(verdict.open_error);
    slow = error <= best / 2 ? 0 : slow + 1;
    best = std::min(best, error);
  }
  result.iterations = std::max(solves - 1, 0);
  result.backward_error = static_cast<double>(verdict.backward_error);
  result.converged = verdict.open == 0 && std::isfinite(result.backward_error);
  const Status broken = g.wait();
  if (!result.converged) result.status = broken.ok() ? Status{verdict.row} : broken;
  return result;
}

}  // namespace

template <class T>
RefinedSolve tridiagonal_solve_refined(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                                       const RefinementOptions& options) {
  require_fit(A, B, options.systems == SystemsIn::columns);
  if constexpr (std::is_same_v<T, double>) {
    if (options.mixed) return refine<double, float>(g, A, B, options);
  } else if (options.mixed) {
    throw ArgumentError("tridiagonal_solve_refined", "mixed", "A and B are in single precision");
  }
  return refine<T, T>(g, A, B, options);
}

template RefinedSolve tridiagonal_solve_refined(Graph&, const Tridiagonal<float>&, const TileMatrix<float>&,
                                                const RefinementOptions&);
template RefinedSolve tridiagonal_solve_refined(Graph&, const Tridiagonal<double>&, const TileMatrix<double>&,
                                                const RefinementOptions&);

}  // namespace tesela
