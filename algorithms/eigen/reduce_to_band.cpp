#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/eigen/internal/eig_plan.hpp>
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/eigen/sy2sb.hpp>
#include <tesela/codelets/eigen/sytrd.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
void check(const TileMatrix<T>& A, const SymmetricBand<T>& band) {
  const auto refuse = [](const char* argument, const std::string& why) {
    throw ArgumentError("reduce_to_band", argument, why);
  };
  const TileShape tile = A.tile_shape();
  const index_t b = band.half_width();
  if (A.m() != A.n() || A.mt() > 1 || (A.nt() > 1 && tile.nb % b != 0))
    refuse("A", to_string(Shape{A.m(), A.n()}) + " in tiles of " + to_string(Shape{tile.mb, tile.nb}) +
                    "; it must be square, in tiles of whole columns, a multiple of " + std::to_string(b));
  if (band.order() != A.n())
    refuse("band", "order " + std::to_string(band.order()) + "; A has " + std::to_string(A.n()));
  require_blas_sizes("reduce_to_band", "A", A);
}

Priority on_gpu_of(index_t part) { return on_gpu_number(static_cast<std::size_t>(part)); }

constexpr index_t max_tiles_of_v = 8;  // largest number of tiles of V for Sytrd

/// Returns whether one task reduces A.
bool at_once(const WorkerCounts& workers, index_t n, index_t b, index_t tiles) {
  return b == 1 && n <= largest_sytrd && tiles == 1 && (workers.gpus == 0 || workers.gpus_on_all_ranks);
}

/// Defaults of the options.
struct Sizes {
  index_t block, update, parts;
  Sizes(const WorkerCounts& workers, index_t n, index_t b, index_t tiles, const ReduceToBandOptions& options) {
    const bool gpu = workers.gpus > 0;
    block = ceil_div(options.block > 0 ? std::min(options.block, std::max<index_t>(n, 1))
                                       : reflector_columns(workers, n, options.vectors),
                     b) *
            b;
    update = std::min(block, options.update > 0 ? options.update : gpu ? ceil_div(1024, b) * b : b);
    parts =
        std::min(tiles, options.parts > 0 ? options.parts : static_cast<index_t>(gpu ? workers.gpus : workers.cpus));
  }
};

}  // namespace

template <class T>
void BandReduction<T>::finish_block(Graph& g) {
  if (vectors_) join_reflectors(g, blocks_.back(), half_width_);
}

/// Inserts one task that reduces A to tridiagonal form; its device keeps A.
template <class T>
void BandReduction<T>::reduce_at_once(Graph& g, const Tile<T>& A, const Tile<T>& band, index_t block) {
  const bool gpu = workers_for<T>(g.runtime()).gpus > 0;
  const Priority where{highest_priority, gpu, gpu ? 0 : -1};
  block = std::max(block, ceil_div(n_, max_tiles_of_v));
  std::vector<Tile<T>> reflectors;
  for (index_t first = 0; first + 1 < n_; first += block) {
    const index_t top = first + 1, height = n_ - top, columns = std::min(block, height);
    blocks_.emplace_back(top, TileMatrix<T>(g.runtime(), height, columns, {height, columns}, "V"),
                         TileMatrix<T>(g.runtime(), columns, columns, {columns, columns}, "T"),
                         TileMatrix<T>(g.runtime(), 1, columns, {1, columns}, "tau"));
    blocks_.back().columns = columns;
    for (const Tile<T>& tile : {blocks_.back().v(0, 0), blocks_.back().panels(0, 0)}) {
      g.insert<Laset<T>>(where, {T(0), 1}, tile);
      reflectors.push_back(tile);
    }
  }
  const Shape work = sytrd_work(n_, gpu);
  g.insert<Sytrd<T>>(where, {block}, A, band, g.scratch<T>(work.rows, work.cols), reflectors);
  for (const ReflectorBlock<T>& one : blocks_)
    if (vectors_)
      g.insert<JoinReflectors<T>>(on_gpu, {one.columns, 1}, one.v(0, 0), one.t(0, 0), std::vector{one.panels(0, 0)});
    else
      g.forget(one.v(0, 0));
}

template <class T>
BandReduction<T>::BandReduction(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& B,
                                const ReduceToBandOptions& options)
    : n_(A.n()), half_width_(B.half_width()), vectors_(options.vectors) {
  Runtime& runtime = g.runtime();
  const WorkerCounts workers = workers_for<T>(runtime);
  const bool gpu = workers.gpus > 0;
  const Priority next_panel{highest_priority, gpu, gpu ? 0 : -1};
  const TileMatrix<T>& band = B.tiles();
  const index_t n = n_, b = half_width_, w = std::min(A.tile_shape().nb, std::max<index_t>(n, 1)),
                band_width = std::min(band.tile_shape().nb, std::max<index_t>(n, 1));
  const auto [block, update, parts] = Sizes(workers, n, b, A.nt(), options);
  band.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.insert<Laset<T>>(on_gpu, {T(0), 1}, tile); });
  if (n == 0) return;
  if (at_once(workers, n, b, A.nt()) && band.nt() == 1) {
    reduce_at_once(g, A(0, 0), band(0, 0), block);
    g.forget(A(0, 0));
    return;
  }
  for (index_t j = 0; gpu && j < A.nt(); ++j)  // GPUs are faster with full squares
    g.insert<MirrorTile<T>>(on_gpu_of(j), {j * w}, A(0, j));

  const auto P = TileMatrix<T>(runtime, n, b, {n, b}, "P"), W = TileMatrix<T>(runtime, n, parts * b, {n, b}, "W"),
             none = TileMatrix<T>(runtime, b, b, {b, b}, "none");
  work_ = {P, W, none};
  const Shape qr_scratch = qr_work(b, b, n, gpu);
  const Tile<T> scratch = g.scratch<T>(qr_scratch.rows, qr_scratch.cols), sums = g.scratch<T>(b, block, 1);
  // v and z of the current block. Z, and V if it is not kept, use two buffers in turn. Otherwise all blocks would be
  // allocated at once, because the tasks that clear them wait for nothing.
  Tile<T> v = P(0, 0), z = P(0, 0);
  std::vector<TileMatrix<T>> own;
  BandPanel panel;
  for (index_t c = 0; c < n; c += b) {
    const index_t next = c + b, rows = n - next;  // rows below the band; a single row is in the band already
    panel.column = c, panel.row = next, panel.width = std::min(b, n - c);
    panel.vectors = rows > 1 ? std::min(b, rows) : 0;
    if (c == 0 || (panel.at == block && panel.vectors > 0)) {
      if (c > 0) finish_block(g);
      panel.top = std::min(next, n - 1), panel.at = panel.waiting = 0;
      const index_t height = n - panel.top;
      const bool first = blocks_.size() < 2;
      if (first) z_.emplace_back(runtime, height, block, TileShape{height, block}, "Z");
      if (first && !vectors_) own.emplace_back(runtime, height, block, TileShape{height, block}, "V");
      z = z_[blocks_.size() % 2](0, 0);
      blocks_.emplace_back(
          panel.top, vectors_ ? TileMatrix<T>(runtime, height, block, {height, block}, "V") : own[blocks_.size() % 2],
          TileMatrix<T>(runtime, block, block, {block, block}, "T"), TileMatrix<T>(runtime, b, block, {b, b}, "Tp"));
      v = blocks_.back().v(0, 0);
      for (const Tile<T>& tile : {v, z}) g.insert<Laset<T>>(next_panel, {T(0), 1}, tile);
    }
    const Tile<T> t = panel.vectors > 0 ? blocks_.back().panels(0, panel.at / b) : none(0, 0);
    g.insert<Sy2sbPanel<T>>(next_panel, {panel, b, c % w, c % band_width}, A(0, c / w), v, z, P(0, 0),
                            band(0, c / band_width), t, scratch);
    if (panel.vectors == 0) continue;

    std::vector<Tile<T>> products;
    for (index_t part = 0; part < parts; ++part) {
      std::vector<Tile<T>> tiles;
      index_t first = part;
      while ((first + 1) * w <= next && first < A.nt()) first += parts;
      for (index_t j = first; j < A.nt(); j += parts) tiles.push_back(A(0, j));
      if (tiles.empty()) continue;
      products.push_back(W(0, part));
      Priority where = gpu ? on_gpu_of(part) : urgent;
      where.value = urgent.value;
      g.insert<Sy2sbSymm<T>>(where, {panel, first, parts, w, gpu}, P(0, 0), W(0, part), tiles);
    }
    g.insert<Sy2sbJoin<T>>(next_panel, {panel}, t, P(0, 0), v, z, sums, products);
    panel.at += panel.vectors;
    blocks_.back().columns = panel.at;
    if (panel.at - panel.waiting < update && panel.at < block) continue;
    for (index_t j = next / w; j < A.nt(); ++j) {  // first the tile of the next panel
      Priority first = gpu ? on_gpu_of(j % parts) : Priority{};
      first.value = highest_priority - static_cast<int>(std::min<index_t>(j - next / w, 1000));
      g.insert<Sy2sbUpdate<T>>(first, {j * w, std::max(j * w, next), panel.top, panel.waiting, panel.at, gpu}, v, z,
                               A(0, j));
    }
    panel.waiting = panel.at;
  }
  finish_block(g);
  for (const auto& turns : {z_, own})
    for (const TileMatrix<T>& one : turns) g.forget(one(0, 0));
  A.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.forget(tile); });
}

template <class T>
void BandReduction<T>::apply(Graph& g, Op op, const TileMatrix<T>& X) const {
  const char* const wrong = !vectors_                   ? "the vectors were not kept"
                            : X.m() != n_ || X.mt() > 1 ? "it must have as many rows as A, in tiles of whole columns"
                                                        : nullptr;
  require(wrong == nullptr, "BandReduction::apply", "X", X, " in tiles of ", X.tile_shape(), ": ", wrong);
  apply_reflectors(g, op, blocks_, X);
}

namespace {

using detail::EigShape;

/// Adds the work space of products with Q.
void plan_products(MemoryPlan& plan, const EigShape& e, index_t block) {
  const index_t wide = std::min(e.x_columns, e.wanted);
  if (e.vectors)
    plan.hold_on_each({.shape = {block, e.gpu() ? 2 * wide : wide},
                       .at_once = e.gpu() ? 1.0 : e.workers.cpus,
                       .first = detail::back_transformation,
                       .last = detail::back_transformation});
  if (const index_t doubles = product_work(e.workers, e.n, wide, block, plan.element()); e.vectors && doubles > 1)
    plan.hold_on_each({.shape = {doubles * static_cast<index_t>(sizeof(double) / plan.element()), 1},
                       .first = detail::back_transformation,
                       .last = detail::back_transformation});
}

void plan_at_once(MemoryPlan& plan, const EigShape& e, index_t block) {
  using namespace detail;
  const index_t n = e.n;
  const int place = e.gpu() ? 0 : MemoryPlan::host;
  const Shape work = sytrd_work(n, e.gpu());
  if (e.gpu()) plan.hold({place, {n, n}});
  plan.hold({place, work});
  for (index_t first = 0; first + 1 < n; first += block) {
    const index_t height = n - first - 1, columns = std::min(block, height);
    for (int p = 0; p < (e.gpu() ? e.workers.gpus : 1); ++p) {
      const EigStage from = p == 0 ? to_band : back_transformation;
      if (from > e.last(to_band)) continue;
      plan.hold({e.gpu() ? p : place, {height, columns}, 1, from, e.last(to_band), 1});
      if (e.vectors) plan.hold({e.gpu() ? p : place, {columns, columns}, 1, from, e.last(to_band)});
    }
  }
  plan_products(plan, e, block);
  plan.task(static_cast<double>(n) * static_cast<double>(2 * n + work.cols));
}

}  // namespace

void detail::plan_reduction(MemoryPlan& plan, const EigShape& e) {
  const index_t n = e.n, b = e.half_width, tiles = ceil_div(n, std::max<index_t>(e.a_columns, 1)),
                last = e.last(to_band);
  if (n == 0) return;
  const auto [block, update, parts] = Sizes(e.workers, n, b, tiles, {.block = e.block, .vectors = e.vectors});
  if (at_once(e.workers, n, b, tiles)) return plan_at_once(plan, e, std::max(block, ceil_div(n, max_tiles_of_v)));
  const Shape qr_scratch = qr_work(b, b, n, e.gpu());
  const int places = e.gpu() ? static_cast<int>(parts) : 1;
  for (int p = 0; p < places; ++p) {
    const int place = e.gpu() ? p : MemoryPlan::host;
    // The first GPU has the panels, and fetches every tile once.
    const double mine = p == 0 ? static_cast<double>(tiles) : static_cast<double>(ceil_div(tiles, parts));
    if (e.gpu())
      plan.hold({place, {n, e.a_columns}, mine * static_cast<double>(n) / static_cast<double>(tiles * e.a_columns)});
    plan.hold({place, {n, b}, 1 + (p == 0 ? static_cast<double>(parts) : 1)});
    const double panels = e.gpu() ? 1 : e.workers.cpus;  // panels at a time, one per worker
    if (p == 0) plan.hold({place, qr_scratch, panels});
    if (p == 0) plan.hold({place, {b, block}, panels});
  }
  const double turns = static_cast<double>(std::min<index_t>(2, ceil_div(std::max<index_t>(n - b, 0), block)));
  for (int p = 0; p < places && n > b; ++p)  // Z, and V if it is not kept
    plan.hold({e.gpu() ? p : MemoryPlan::host, {n - b, block}, e.vectors ? turns : 2 * turns});
  for (index_t column = 0; column + b < n; column += block) {
    const Shape of_v{n - column - b, block};
    for (int p = 0; p < (e.gpu() ? e.workers.gpus : 1); ++p) {
      const int place = e.gpu() ? p : MemoryPlan::host;
      const index_t from = p < places ? to_band : back_transformation;  // the other GPUs start when Q is applied
      if (from > last) continue;
      if (e.vectors) plan.hold({place, of_v, 1, from, last, 1});
      if (e.vectors) plan.hold({place, {block, block}, 1, from, last});
      if (p == 0) plan.hold({place, {b, block}, 1, to_band, last});
    }
  }
  plan_products(plan, e, block);
  plan.task(static_cast<double>(n) * static_cast<double>(e.a_columns + 2 * std::min<index_t>(n, block)));
}

template <class T>
BandReduction<T> reduce_to_band(Graph& g, const TileMatrix<T>& A, const SymmetricBand<T>& band,
                                const ReduceToBandOptions& options) {
  check(A, band);
  return BandReduction<T>(g, A, band, options);
}

TESELA_FUNCTIONS_FOR_NUMBERS(reduce_to_band)
TESELA_CLASSES_FOR_NUMBERS(BandReduction)

}  // namespace tesela
