#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/algorithms/mimo/mimo_list.hpp>
#include <tesela/codelets/mimo/sphere_search.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace mimo;
namespace {

/// Returns columns of integers, for which no list of points exists.
SearchLists whole_numbers(index_t streams, bool single) {
  const int most = (single ? 1 << 22 : 1 << 30) - 1;
  SearchLists made;
  made.real_form = true;
  made.columns = HostMatrix<kernels::SearchColumn>(1, 2 * streams);
  made.points = HostMatrix<kernels::SearchPoint>(1, 1);
  made.points(0, 0) = {};
  for (index_t j = 0; j < 2 * streams; ++j) made.columns(0, j) = {0, 2 * most + 1, static_cast<double>(-most), 1, 0};
  return made;
}

}  // namespace

template <class T>
MimoList mimo_list(Graph& g, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                   const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                   const MimoListOptions& options) {
  if (alternates(alphabets)) return mimo_list(g, shape, channels, turned_back(y), constant_of(alphabets), options);
  const bool integers = alphabets.empty();
  check_model(shape, channels, y,
              integers && shape.streams > 0 && shape.streams <= 32
                  ? std::vector<Constellation>(static_cast<std::size_t>(shape.streams))
                  : alphabets);
  if (!(options.radius >= 0) || !std::isfinite(options.radius)) refuse("radius", "must be finite and not negative");
  if (!(options.n0 >= 0) || !std::isfinite(options.n0)) refuse("n0", shortest(options.n0) + " is not a variance");
  if (options.most < 1) refuse("most", std::to_string(options.most) + "; 1 or more");
  if (options.max_nodes < 0) refuse("max_nodes", std::to_string(options.max_nodes) + " is negative");
  require_fixed_order(options.order, "lists accept");
  const index_t n = shape.streams, most = options.radius > 0 ? options.most : 1, rows = (integers ? 2 * n : n) * most;
  MimoList found{HostMatrix<int>(rows / most, most * shape.signals), HostMatrix<double>(most, shape.signals),
                 std::vector<int>(static_cast<std::size_t>(shape.signals)),
                 std::vector<SearchReport>(static_cast<std::size_t>(shape.signals))};
  if (shape.signals == 0) return found;
  const SearchLists lists = integers ? whole_numbers(n, sizeof(T) == 4) : lists_of(alphabets, options.form);
  Runtime& runtime = g.runtime();
  const SearchTiles<T> tiles(runtime, shape, channels, y, lists, options.batch);
  const index_t batch = tiles.batch;
  const auto L = TileMatrix<int>::map(runtime, found.labels.data(), rows, shape.signals, rows, {rows, batch}, "s");
  const auto D = TileMatrix<double>::map(runtime, found.distances.data(), most, shape.signals, most, {most, batch});
  const auto C = TileMatrix<int>::map(runtime, found.counts.data(), 1, shape.signals, 1, {1, batch}, "counts");
  const auto R = TileMatrix<SearchReport>::map(runtime, found.reports.data(), 1, shape.signals, 1, {1, batch});
  for (index_t t = 0; t < tiles.y.nt(); ++t)
    g.insert<kernels::SphereList<T>>({n, tiles.coherence, options.n0, options.radius, options.max_nodes, most,
                                      options.order, lists.real_form, integers},
                                     tiles.channels(t), tiles.y(0, t), tiles.columns(0, 0), tiles.points(0, 0), L(0, t),
                                     D(0, t), C(0, t), R(0, t));
  g.wait();
  return found;
}

template MimoList mimo_list(Graph&, const MimoShape&, const HostMatrix<std::complex<float>>&,
                            const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&,
                            const MimoListOptions&);
template MimoList mimo_list(Graph&, const MimoShape&, const HostMatrix<std::complex<double>>&,
                            const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&,
                            const MimoListOptions&);

}  // namespace tesela
