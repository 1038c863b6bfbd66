#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/svd/reduce_to_upper_band.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/svd/ge2tb.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;
namespace {

index_t clamped(index_t half_width, index_t n) {
  return std::clamp<index_t>(half_width, 1, std::max<index_t>(n - 1, 1));
}

template <class T>
TileMatrix<T> make_band(Runtime& runtime, index_t n, index_t half_width, index_t window) {
  require(n >= 0, "UpperBand", "n", n);
  require(half_width >= 0, "UpperBand", "half_width", half_width);
  const index_t b = clamped(half_width, n);
  require(window >= 2 * b && window % b == 0, "UpperBand", "window", window, " for half-width ", b);
  return TileMatrix<T>(runtime, 3 * b - 1, n, {3 * b - 1, window}, "B");
}

template <class T>
void check(const TileMatrix<T>& A, const UpperBand<T>& band) {
  const TileShape tile = A.tile_shape();
  const index_t b = band.half_width();
  require(A.m() == A.n() && A.mt() <= 1 && (A.nt() <= 1 || tile.nb % b == 0), "reduce_to_upper_band", "A", A,
          " in tiles of ", tile, "; it must be square, in tiles of whole columns, a multiple of ", b);
  require(band.order() == A.n(), "reduce_to_upper_band", "band", "order ", band.order(), "; A has ", A.n());
  require_blas_sizes("reduce_to_upper_band", "A", A);
}

}  // namespace

template <class T>
UpperBand<T>::UpperBand(Runtime& runtime, index_t n, index_t half_width, index_t window)
    : tiles_(make_band<T>(runtime, n, half_width, window)) {}

template <class T>
std::vector<T> UpperBand<T>::diagonal(index_t distance) const {
  const index_t row = 2 * half_width() - 1 - distance;
  std::vector<T> d;
  tiles_.read_each_tile([&](const auto& block, index_t, index_t column) {
    for (index_t j = std::max<index_t>(distance - column, 0); j < block.cols; ++j) d.push_back(block(row, j));
  });
  return d;
}

template <class T>
UpperBandReduction<T>::UpperBandReduction(Graph& g, const TileMatrix<T>& A, const UpperBand<T>& B,
                                          const ReduceToUpperBandOptions& o)
    : n_(A.n()), vectors_(o.vectors) {
  Runtime& runtime = g.runtime();
  const index_t n = n_, b = B.half_width();
  const WorkerCounts workers = workers_for<T>(runtime);
  const bool gpu = workers.gpus > 0;
  B.tiles().for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.insert<Laset<T>>(on_gpu, {T(0), 1}, tile); });
  if (n == 0) return;
  // One GPU has the panels; the tiles of A are dealt to all.
  const Priority panel_first{highest_priority, gpu, gpu ? 0 : -1};
  const auto on_tile = [&](index_t j, int value) {
    return Priority{value, gpu, gpu ? static_cast<int>(j % workers.gpus) : -1};
  };
  const index_t w = std::min(A.tile_shape().nb, n), band_width = std::min(B.tiles().tile_shape().nb, n),
                wanted = o.block > 0 ? o.block : reflector_columns(workers, n, vectors_),
                block = vectors_ ? ceil_div(std::min(wanted, n), b) * b : b,
                parts = std::min<index_t>(A.nt(), o.parts > 0 ? o.parts
                                                  : gpu       ? workers.gpus
                                                              : std::max(workers.cpus, 1));
  const auto width_of = [&](index_t j) { return std::min(w, n - j * w); };
  const auto G = TileMatrix<T>(runtime, n, 4 * b, {n, 2 * b}, "G"),
             X = TileMatrix<T>(runtime, n, parts * b, {n, b}, "X"),
             H = TileMatrix<T>(runtime, 2 * b, n, {2 * b, w}, "H");
  work_ = {G, X, H};
  for (index_t j = 0; j < A.nt(); ++j) work_.emplace_back(runtime, width_of(j), b, TileShape{w, b}, "P");
  const auto p_of = [&](index_t j) { return work_[static_cast<std::size_t>(3 + j)](0, 0); };
  const Shape qr_scratch = qr_work(b, b, n, gpu);
  const Tile<T> scratch = g.scratch<T>(qr_scratch.rows, qr_scratch.cols), square = g.scratch<T>(b, b, 1);

  TriangularPanel panel;
  panel.half_width = b;
  for (index_t c = 0; c < n; c += b) {
    const index_t next = c + b;
    panel.column = c, panel.width = std::min(b, n - c);
    panel.vectors = std::clamp<index_t>(n - next, 0, b);
    panel.at = c % block;
    if (vectors_ ? panel.at == 0 : c == 0) {
      for (const auto& [blocks, first] : {std::pair{&left_, c}, std::pair{&right_, std::min(next, n - 1)}}) {
        if (c > 0) join_reflectors(g, blocks->back(), b);
        blocks->emplace_back(runtime, n, vectors_ ? first : 0, block, b);
        g.insert<Laset<T>>(panel_first, {T(0), 1}, blocks->back().v(0, 0));
      }
    }
    ReflectorBlock<T>&left = left_.back(), &right = right_.back();
    const index_t now = vectors_ ? panel.at / b : 0;
    if (!vectors_) panel.at = 0;
    left.columns = panel.at + panel.width;
    if (panel.vectors > 0) right.columns = panel.at + panel.vectors;
    const Tile<T> gathered = G(0, c / b % 2), t1 = left.panels(0, now), t2 = right.panels(0, now);
    g.insert<Ge2tbColumns<T>>(panel_first, {panel, left.top, c % w, c % band_width}, A(0, c / w), left.v(0, 0),
                              gathered, B.tiles()(0, c / band_width), t1, scratch);
    if (next >= n) break;
    std::vector<Tile<T>> rows;
    const auto first_of = [&](index_t j) { return std::max<index_t>(next - j * w, 0); };
    for (index_t j = next / w; j < A.nt(); ++j) {
      g.insert<Ge2tbRows<T>>(on_tile(j, highest_priority - 1), {panel, first_of(j)}, gathered, t1, A(0, j), H(0, j),
                             p_of(j));
      rows.push_back(p_of(j));
    }
    g.insert<Ge2tbFactorRows<T>>(panel_first, {panel, right.top, w, next % band_width}, right.v(0, 0), t2,
                                 B.tiles()(0, next / band_width), scratch, rows);
    std::vector<Tile<T>> products;
    for (index_t part = 0; part < parts; ++part) {
      std::vector<Tile<T>> tiles;
      const index_t first = next / w + part;
      for (index_t j = first; j < A.nt(); j += parts) tiles.insert(tiles.end(), {A(0, j), H(0, j)});
      if (tiles.empty()) break;
      products.push_back(X(0, part));
      g.insert<Ge2tbProduct<T>>(on_tile(first, highest_priority), {panel, right.top, first, parts, w}, right.v(0, 0),
                                gathered, X(0, part), square, tiles);
    }
    g.insert<Ge2tbJoin<T>>(panel_first, {panel}, t2, gathered, products);
    for (index_t j = next / w; j < A.nt(); ++j)  // first the tile of the next panel
      g.insert<Ge2tbUpdate<T>>(
          on_tile(j, highest_priority - 1 - static_cast<int>(std::min<index_t>(j - next / w, 1000))),
          {panel, right.top, j * w, first_of(j)}, gathered, right.v(0, 0), H(0, j), A(0, j));
  }
  if (vectors_)
    for (const auto* blocks : {&left_, &right_}) join_reflectors(g, blocks->back(), b);
  A.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.forget(tile); });
}

template <class T>
void UpperBandReduction<T>::apply(Graph& g, Side side, Op op, const TileMatrix<T>& X) const {
  const char* const wrong = !vectors_                   ? "the reflectors were not kept"
                            : X.m() != n_ || X.mt() > 1 ? "it must have as many rows as A, in tiles of whole columns"
                                                        : nullptr;
  require(wrong == nullptr, "UpperBandReduction::apply", "X", X, " in tiles of ", X.tile_shape(), ": ", wrong);
  apply_reflectors(g, op, side == Side::left ? left_ : right_, X);
}

template <class T>
UpperBandReduction<T> reduce_to_upper_band(Graph& g, const TileMatrix<T>& A, const UpperBand<T>& band,
                                           const ReduceToUpperBandOptions& options) {
  check(A, band);
  return UpperBandReduction<T>(g, A, band, options);
}

TESELA_CLASSES_FOR_NUMBERS(UpperBand, UpperBandReduction)
TESELA_FUNCTIONS_FOR_NUMBERS(reduce_to_upper_band)

}  // namespace tesela
