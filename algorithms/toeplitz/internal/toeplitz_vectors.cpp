#include <tesela/algorithms/toeplitz/internal/dense_halves.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/codelets/toeplitz/sine_transform.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Orthogonalizes the vectors of a piece against the piece below. Vectors of one run are orthogonal, as its basis was.
/// Vectors of two runs overlap by about their residuals over their distance; the overlap is subtracted if it may exceed
/// rounding. Returns false if all values are too far apart.
template <class T>
bool orthogonalize(Graph& g, const IntervalPairs<T>& below, const IntervalPairs<T>& above) {
  const double reach = 1e11 * std::max({below.residual[0], below.residual[1], above.residual[0], above.residual[1]});
  typename OrthogonalizeAgainst<T>::Args args;
  bool overlaps = false;
  double last = -std::numeric_limits<double>::infinity(), first = -last;
  for (std::size_t part = 0; part < 2; ++part) {
    const std::vector<double>&low = below.values[part], &high = above.values[part];
    if (!low.empty()) last = std::max(last, low.back());
    if (!high.empty()) first = std::min(first, high.front());
    if (low.empty() || high.empty()) continue;
    args.ends[part] = static_cast<index_t>(low.size());
    args.columns[part] = std::upper_bound(high.begin(), high.end(), low.back() + reach) - high.begin();
    args.others[part] = low.end() - std::lower_bound(low.begin(), low.end(), high.front() - reach);
    overlaps = overlaps || (args.columns[part] > 0 && args.others[part] > 0);
  }
  if (overlaps)
    g.insert<OrthogonalizeAgainst<T>>(on_gpu, args, *below.x, *above.x,
                                      g.scratch<T>((*below.x).cols(), (*above.x).cols()));
  return first - last <= reach;
}

/// Transforms a piece's vectors from the sine basis to their columns of v. `columns` holds the columns of its
/// symmetric, then of its skew vectors; -1 for vectors that are not wanted.
template <class T>
void expand(Graph& g, const IntervalPairs<T>& piece, const std::vector<index_t>& columns, const TileMatrix<T>& v) {
  index_t first = v.n(), last = -1;
  for (const index_t column : columns)
    if (column >= 0) first = std::min(first, column), last = std::max(last, column);
  if (last < 0) return;
  const index_t nb = v.tile_shape().nb;
  const OneTile<index_t> at(g.runtime(), {(*piece.x).cols(), 2}, "places");
  {
    const auto home = (*at).write();
    std::copy(columns.begin(), columns.end(), home.data);
  }
  std::vector<Tile<T>> tiles;
  for (index_t j = first / nb; j <= last / nb; ++j) tiles.push_back(v(0, j));
  g.insert<FromSineBasis<T>>(on_gpu, {first / nb * nb}, *piece.x, *at,
                             g.scratch<T>(sine_rows(v.m()), g.runtime().gpus() > 0 ? 32 : 1), tiles);
}

template <class T>
TileMatrix<T> room_for(Graph& g, index_t n, const std::vector<ComputedEigenvalue>& values) {
  const auto found = static_cast<index_t>(values.size());
  return {g.runtime(), n, found, {n, std::clamp<index_t>(found, 1, 128)}, "vectors"};
}

}  // namespace

template <class T>
TileMatrix<T> place_vectors(Graph& g, const SineToeplitz<T>& A, const std::vector<ComputedEigenvalue>& values,
                            const std::vector<IntervalPairs<T>>& pieces) {
  const TileMatrix<T> v = room_for<T>(g, A.n(), values);
  std::vector<std::vector<index_t>> columns;
  for (const IntervalPairs<T>& p : pieces)
    columns.emplace_back(static_cast<std::size_t>(2 * (*p.x).cols()), index_t{-1});
  for (std::size_t k = 0; k < values.size(); ++k) {
    const ComputedEigenvalue& f = values[k];
    const index_t before = f.part == 0 ? 0 : (*pieces[f.piece].x).cols();
    columns[f.piece][static_cast<std::size_t>(before + f.column)] = static_cast<index_t>(k);
  }
  for (index_t j = 0; j < v.nt(); ++j) g.insert<Fill<T>>(on_gpu, {}, v(0, j));
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return pieces[a].low < pieces[b].low; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (std::size_t below = k; below-- > 0;)
      if (!orthogonalize(g, pieces[order[below]], pieces[order[k]])) break;
    expand(g, pieces[order[k]], columns[order[k]], v);
  }
  return v;
}

template <class T>
TileMatrix<T> place_vectors(Graph& g, const SineToeplitz<T>& A, const std::vector<ComputedEigenvalue>& values,
                            const std::array<OneTile<T>, 2>& halves) {
  const TileMatrix<T> vectors = room_for<T>(g, A.n(), values);
  const auto symmetric = (*halves[0]).read(), skew = (*halves[1]).read();
  vectors.for_each_tile([&](const Tile<T>& tile, index_t, index_t first) {
    const auto v = tile.write();
    for (index_t j = 0; j < v.cols; ++j) {
      const ComputedEigenvalue& f = values[static_cast<std::size_t>(first + j)];
      const auto& half = f.part == 0 ? symmetric : skew;
      toeplitz_expand(v.rows, static_cast<int>(f.part), &half(0, f.column), &v(0, j));
    }
  });
  return vectors;
}

#define TESELA_PLACE_VECTORS(T)                                                                                \
  template TileMatrix<T> place_vectors(Graph&, const SineToeplitz<T>&, const std::vector<ComputedEigenvalue>&, \
                                       const std::vector<IntervalPairs<T>>&);                                  \
  template TileMatrix<T> place_vectors(Graph&, const SineToeplitz<T>&, const std::vector<ComputedEigenvalue>&, \
                                       const std::array<OneTile<T>, 2>&);
TESELA_FOR_REALS(TESELA_PLACE_VECTORS)

}  // namespace tesela::detail
