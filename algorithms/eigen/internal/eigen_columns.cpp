#include <tesela/algorithms/eigen/internal/eigen_columns.hpp>
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace tesela::detail {
namespace {

using kernels::Laset;
using kernels::PlaceColumns;

/// Returns the destinations of the columns of one node in one tile column of X; nothing if it has none there.
template <class T>
std::optional<TileMatrix<index_t>> map_of(Runtime& runtime, const EigenColumns<T>& node, std::size_t number,
                                          const ColumnPlace* places, index_t cols) {
  std::vector<index_t> map(static_cast<std::size_t>(cols), -1);
  bool any = false;
  for (index_t j = 0; j < cols; ++j)
    if (places[j].node == number) {
      map[static_cast<std::size_t>(j)] = node.column[static_cast<std::size_t>(places[j].value)];
      any = true;
    }
  if (!any) return std::nullopt;
  return one_tile(runtime, cols, map, "map");
}

}  // namespace

template <class T>
void place_columns(Graph& g, const std::vector<EigenColumns<T>>& nodes, const std::vector<ColumnPlace>& places,
                   const TileMatrix<T>& x, index_t gpus) {
  const TileShape tile = x.tile_shape();
  for (index_t j = 0; x.mt() > 0 && j < x.nt(); ++j) {
    const ColumnPlace* const first = places.data() + j * tile.nb;
    const Priority where = gpus > 0 ? on_gpu_number(static_cast<std::size_t>(j * gpus / x.nt())) : on_core;
    std::vector<std::optional<TileMatrix<index_t>>> maps;
    for (std::size_t s = 0; s < nodes.size(); ++s)
      maps.push_back(map_of(g.runtime(), nodes[s], s, first, x(0, j).cols()));
    for (index_t i = 0; i < x.mt(); ++i) {
      const index_t top = i * tile.mb, bottom = top + x(i, j).rows();
      bool written = false;
      for (std::size_t s = 0; s < nodes.size(); ++s) {
        index_t row = nodes[s].begin;
        for (const RowBlock<T>& block : nodes[s].blocks) {
          const index_t begin = std::max(row, top), end = std::min(row + block.rows, bottom);
          if (maps[s] && begin < end) {
            std::vector<Tile<T>> sources;
            block.append_to(sources);
            const index_t from = begin - row, to = begin - top, rows = end - begin;
            if (written)
              g.insert<PlaceColumns<T>>(where, {from, to, rows}, (*maps[s])(0, 0), x(i, j), sources);
            else
              g.insert<PlaceColumns<T, Out>>(where, {from, to, rows}, (*maps[s])(0, 0), x(i, j), sources);
            written = true;
          }
          row += block.rows;
        }
      }
      if (!written) g.insert<Laset<T>>(where, {}, x(i, j));
    }
  }
}

template <class T>
std::vector<IndexRange> independent_blocks(index_t n, std::vector<T>& e, index_t leaf, index_t& blocks) {
  std::vector<index_t> ends;
  for (index_t i = 0; i + 1 < n; ++i) {
    T& entry = e[static_cast<std::size_t>(i)];
    if (std::abs(entry) > std::numeric_limits<T>::epsilon() / 8) continue;
    entry = 0;
    ends.push_back(i + 1);
  }
  if (n > 0) ends.push_back(n);
  blocks = static_cast<index_t>(ends.size());
  std::vector<IndexRange> ranges;
  index_t begin = 0;
  for (std::size_t b = 0; b < ends.size(); ++b) {
    if (b + 1 < ends.size() && ends[b + 1] - begin <= leaf) continue;
    ranges.push_back({begin, ends[b]});
    begin = ends[b];
  }
  return ranges;
}

template <class T>
std::vector<index_t> ascending_order(const std::vector<T>& values) {
  std::vector<index_t> order(values.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) {
    return values[static_cast<std::size_t>(i)] < values[static_cast<std::size_t>(j)];
  });
  return order;
}

template <class T>
std::vector<ColumnPlace> ascending_places(const std::vector<EigenColumns<T>>& nodes, index_t begin, index_t end) {
  std::vector<ColumnPlace> all;
  for (std::size_t s = 0; s < nodes.size(); ++s)
    for (const index_t i : nodes[s].order) all.push_back({s, i});
  const auto value = [&](const ColumnPlace& p) { return nodes[p.node].values[static_cast<std::size_t>(p.value)]; };
  std::stable_sort(all.begin(), all.end(),
                   [&](const ColumnPlace& a, const ColumnPlace& b) { return value(a) < value(b); });
  return {all.begin() + begin, all.begin() + end};
}

TESELA_FUNCTIONS_FOR_REALS(independent_blocks, ascending_order, place_columns, ascending_places)

}  // namespace tesela::detail
