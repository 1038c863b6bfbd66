#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_equilibration.hpp>
#include <tesela/runtime/require.hpp>

#include <vector>

namespace tesela {

using namespace kernels;
namespace {

using detail::SystemTiles;
using tridiagonal::Joint;
using tridiagonal::Segment;

template <class T>
void require_band(const SystemTiles<T>& band, const SystemTiles<T>& B, const char* name) {
  const bool single = band.across() == 1;
  require(band.along() == B.along() && (single || band.across() == B.across()), "tridiagonal_solve", name, band.matrix,
          "; B is ", B.matrix);
  const bool cut =
      band.tiles_along() != B.tiles_along() || (B.tiles_along() > 1 && band.tile_along() != B.tile_along());
  const bool cut_across = !single && (band.tiles_across() != B.tiles_across() ||
                                      (B.tiles_across() > 1 && band.tile_across() != B.tile_across()));
  require(!cut && !cut_across, "tridiagonal_solve", name, "tiles of ", band.matrix.tile_shape(), "; B's are ",
          B.matrix.tile_shape());
  require(!band.matrix.shares_tiles(B.matrix), "tridiagonal_solve", name, "shares tiles with B");
}

/// Returns the place of tile k of `count`. With several GPUs this is GPU k gpus / count, so that neighbouring tiles
/// share a GPU: a solve is as fast as a copy, and the scheduler would move tiles instead of waiting for a GPU.
Priority place_of(const Runtime& runtime, index_t k, index_t count) {
  const index_t gpus = runtime.gpus();
  return gpus > 1 && runtime.ranks() == 1 ? on_gpu_number(static_cast<std::size_t>(k * gpus / count)) : Priority{};
}

template <class T>
void solve_equilibrated(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B, TridiagonalOptions options) {
  const TridiagonalEquilibration<T> equilibration(g, A, B, options.systems, options.periodic);
  equilibration.scale_rows(g, B);
  options.equilibrate = false;
  tridiagonal_solve(g, equilibration.scaled(), B, options);
  equilibration.scale_columns(g, B);
}

}  // namespace

template <class T>
void tridiagonal_solve(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& matrix,
                       const TridiagonalOptions& options) {
  const bool columns = options.systems == SystemsIn::columns;
  const SystemTiles<T> B{matrix, columns}, dl{A.dl, columns}, d{A.d, columns}, du{A.du, columns};
  for (const auto& [band, name] : {std::pair{&dl, "A.dl"}, std::pair{&d, "A.d"}, std::pair{&du, "A.du"}})
    require_band(*band, B, name);
  if (matrix.m() == 0 || matrix.n() == 0) return;
  if (options.equilibrate) return solve_equilibrated(g, A, matrix, options);

  Runtime& runtime = g.runtime();
  const index_t n = B.along(), tiles = B.tiles_along();
  for (index_t s = 0; s < B.tiles_across(); ++s) {
    const auto band = [&](const SystemTiles<T>& a, index_t i) { return a(i, a.across() == 1 ? 0 : s); };
    const index_t systems = columns ? B(0, s).cols() : B(0, s).rows(), first = s * B.tile_across() * n;
    tridiagonal::SystemsTile place{options.systems, options.periodic, options.periodic, n};
    if (tiles == 1) {
      g.insert<TridiagonalSolve<T>>(place_of(runtime, s, B.tiles_across()), {place, options.periodic, options.one_pass},
                                    band(dl, 0), band(d, 0), band(du, 0), B(0, s),
                                    g.scratch<Segment<T>>(tridiagonal::work_segments(n), systems), g.status(first));
      continue;
    }
    std::vector<Tile<Segment<T>>> work, ends;
    const TileMatrix<Segment<T>> kept(runtime, tiles * tridiagonal::work_segments(B.tile_along()), systems,
                                      {tridiagonal::work_segments(B.tile_along()), systems}, "work"),
        left(runtime, tiles, systems, {1, systems}, "ends");
    const TileMatrix<T> values(runtime, 2 * tiles + 2, systems, {2 * tiles + 2, systems}, "values");
    // The first nonzero status counts: a tile knows its row, the join only its system.
    std::vector<Tile<int>> statuses;
    for (index_t i = 0; i < tiles; ++i) statuses.push_back(g.status(first + i * B.tile_along()));
    for (index_t i = 0; i < tiles; ++i) {
      place.before = i > 0 || options.periodic;
      place.behind = i + 1 < tiles || options.periodic;
      if (is_complex<T> || runtime.gpus() > 0)
        g.insert<TridiagonalReduce<T>>(place_of(runtime, i, tiles), place, band(dl, i), band(d, i), band(du, i),
                                       B(i, s), kept(i, 0), left(i, 0));
      else if constexpr (!is_complex<T>)
        g.insert<TridiagonalReduceAndSolve<T>>(place, band(dl, i), band(d, i), band(du, i), B(i, s), kept(i, 0),
                                               left(i, 0), statuses[static_cast<std::size_t>(i)]);
      ends.push_back(left(i, 0));
    }
    g.insert<TridiagonalJoin<T>>(urgent, {place, options.periodic}, values(0, 0), g.scratch<Joint<T>>(tiles, systems),
                                 g.status(first), ends);
    for (index_t i = 0; i < tiles; ++i) {
      place.before = i > 0 || options.periodic;
      place.behind = i + 1 < tiles || options.periodic;
      g.insert<TridiagonalSubstitute<T>>(place_of(runtime, i, tiles), {place, i}, band(dl, i), band(d, i), band(du, i),
                                         B(i, s), kept(i, 0), values(0, 0), statuses[static_cast<std::size_t>(i)]);
    }
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(tridiagonal_solve)

}  // namespace tesela
