#include "algorithms/tridiagonal.hpp"

#include "codelets/tridiagonal_scale.hpp"

#include <algorithm>
#include <string>

namespace tesela {
namespace {

using tridiagonal::Joint;
using tridiagonal::Segment;

/// A matrix as its systems see it: along them and across.
template <class T>
struct Turned {
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

std::string text(index_t m, index_t n) { return std::to_string(m) + " x " + std::to_string(n); }

template <class T>
void require_band(const Turned<T>& band, const Turned<T>& B, const char* name) {
  const bool single = band.across() == 1;
  if (band.along() != B.along() || (!single && band.across() != B.across()))
    throw ArgumentError("tridiagonal_solve", name,
                        text(band.matrix.m(), band.matrix.n()) + "; B is " + text(B.matrix.m(), B.matrix.n()));
  const bool cut =
      band.tiles_along() != B.tiles_along() || (B.tiles_along() > 1 && band.tile_along() != B.tile_along());
  const bool cut_across = !single && (band.tiles_across() != B.tiles_across() ||
                                      (B.tiles_across() > 1 && band.tile_across() != B.tile_across()));
  if (cut || cut_across)
    throw ArgumentError("tridiagonal_solve", name,
                        "tiles of " + text(band.matrix.tile_shape().mb, band.matrix.tile_shape().nb) + "; B's are " +
                            text(B.matrix.tile_shape().mb, B.matrix.tile_shape().nb));
  if (band.matrix.shares_tiles(B.matrix)) throw ArgumentError("tridiagonal_solve", name, "shares tiles with B");
}

template <class T>
void solve_equilibrated(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& matrix, TridiagonalOptions options) {
  Runtime& runtime = g.runtime();
  const SystemsIn systems = options.systems;
  const bool columns = systems == SystemsIn::columns;
  const Turned<T> B{matrix, columns}, dl{A.dl, columns}, d{A.d, columns}, du{A.du, columns};
  const Turned<T>* widest = &d;
  for (const Turned<T>* band : {&dl, &du})
    if (band->across() > widest->across()) widest = band;
  const auto shaped = [&](const char* name) {
    return TileMatrix<T>(runtime, widest->matrix.m(), widest->matrix.n(), widest->matrix.tile_shape(), name);
  };
  const Tridiagonal<T> scaled{shaped("dl"), shaped("d"), shaped("du")};
  const Turned<T> to_dl{scaled.dl, columns}, to_d{scaled.d, columns}, to_du{scaled.du, columns};
  const index_t n = B.along(), tiles = B.tiles_along(), matrices = widest->tiles_across();
  const TileShape whole = columns ? TileShape{n, widest->tile_across()} : TileShape{widest->tile_across(), n};
  const TileMatrix<index_t> of_columns(runtime, widest->matrix.m(), widest->matrix.n(), whole, "exponents"),
      of_rows(runtime, widest->matrix.m(), widest->matrix.n(), widest->matrix.tile_shape(), "rows");
  const Turned<index_t> exponents{of_columns, columns}, rows{of_rows, columns};

  for (index_t s = 0; s < matrices; ++s) {
    const auto band = [&](const Turned<T>& a, index_t i) { return a(i, a.across() == 1 ? 0 : s); };
    std::vector<Tile<T>> bands;
    for (index_t i = 0; i < tiles; ++i)
      for (const Turned<T>* a : {&dl, &d, &du}) bands.push_back(band(*a, i));
    g.insert<TridiagonalExponents<T>>({systems}, exponents(0, s), bands);
    for (index_t i = 0; i < tiles; ++i)
      g.insert<TridiagonalScale<T>>({systems, options.periodic, i * B.tile_along()}, band(dl, i), band(d, i),
                                    band(du, i), exponents(0, s), to_dl(i, s), to_d(i, s), to_du(i, s), rows(i, s));
  }
  const auto scale = [&](const Turned<index_t>& by, bool of_all) {
    for (index_t s = 0; s < B.tiles_across(); ++s)
      for (index_t i = 0; i < tiles; ++i) {
        const index_t first = i * B.tile_along(), of = matrices == 1 ? 0 : s;
        g.insert<TridiagonalScaleVector<T>>({systems, of_all ? first : 0, n}, B(i, s), by(of_all ? 0 : i, of),
                                            g.status(first + s * B.tile_across() * n));
      }
  };
  scale(rows, false);
  options.equilibrate = false;
  tridiagonal_solve(g, scaled, matrix, options);
  scale(exponents, true);
}

}  // namespace

template <class T>
void tridiagonal_solve(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& matrix,
                       const TridiagonalOptions& options) {
  const bool columns = options.systems == SystemsIn::columns;
  const Turned<T> B{matrix, columns}, dl{A.dl, columns}, d{A.d, columns}, du{A.du, columns};
  for (const auto& [band, name] : {std::pair{&dl, "A.dl"}, std::pair{&d, "A.d"}, std::pair{&du, "A.du"}})
    require_band(*band, B, name);
  if (matrix.m() == 0 || matrix.n() == 0) return;
  if (options.equilibrate) return solve_equilibrated(g, A, matrix, options);

  Runtime& runtime = g.runtime();
  const index_t n = B.along(), tiles = B.tiles_along();
  for (index_t s = 0; s < B.tiles_across(); ++s) {
    const auto band = [&](const Turned<T>& a, index_t i) { return a(i, a.across() == 1 ? 0 : s); };
    const index_t systems = columns ? B(0, s).cols() : B(0, s).rows(), first = s * B.tile_across() * n;
    tridiagonal::Place place{options.systems, options.periodic, options.periodic, n};
    if (tiles == 1) {
      g.insert<TridiagonalSolve<T>>({place, options.periodic}, band(dl, 0), band(d, 0), band(du, 0), B(0, s),
                                    g.scratch<Segment<T>>(tridiagonal::work_segments(n), systems), g.status(first));
      continue;
    }
    std::vector<Tile<Segment<T>>> work, ends;
    const TileMatrix<Segment<T>> kept(runtime, tiles * tridiagonal::work_segments(B.tile_along()), systems,
                                      {tridiagonal::work_segments(B.tile_along()), systems}, "work"),
        left(runtime, tiles, systems, {1, systems}, "ends");
    const TileMatrix<T> values(runtime, 2 * tiles + 2, systems, {2 * tiles + 2, systems}, "values");
    // The first status that is not 0 counts: a tile knows its row, the join only its system.
    std::vector<Tile<int>> statuses;
    for (index_t i = 0; i < tiles; ++i) statuses.push_back(g.status(first + i * B.tile_along()));
    for (index_t i = 0; i < tiles; ++i) {
      place.before = i > 0 || options.periodic;
      place.behind = i + 1 < tiles || options.periodic;
      g.insert<TridiagonalReduce<T>>(place, band(dl, i), band(d, i), band(du, i), B(i, s), kept(i, 0), left(i, 0));
      ends.push_back(left(i, 0));
    }
    g.insert<TridiagonalJoin<T>>(urgent, {place, options.periodic}, values(0, 0), g.scratch<Joint<T>>(tiles, systems),
                                 g.status(first), ends);
    for (index_t i = 0; i < tiles; ++i) {
      place.before = i > 0 || options.periodic;
      place.behind = i + 1 < tiles || options.periodic;
      g.insert<TridiagonalSubstitute<T>>({place, i}, band(dl, i), band(d, i), band(du, i), B(i, s), kept(i, 0),
                                         values(0, 0), statuses[static_cast<std::size_t>(i)]);
    }
  }
}

template void tridiagonal_solve(Graph&, const Tridiagonal<float>&, const TileMatrix<float>&, const TridiagonalOptions&);
template void tridiagonal_solve(Graph&, const Tridiagonal<double>&, const TileMatrix<double>&,
                                const TridiagonalOptions&);

}  // namespace tesela
