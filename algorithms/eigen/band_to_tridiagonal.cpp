#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/internal/eig_plan.hpp>
#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

/// Returns the number of sweeps whose blocks fit into a core's cache together.
index_t sweeps_in_cache(index_t b, std::size_t element) {
  constexpr index_t cache = 1 << 19;
  return std::clamp<index_t>(cache / (2 * b * b * static_cast<index_t>(element)), 1, 32);
}

/// Returns whether a GPU chases bulges; it runs many sweeps concurrently on a band in one tile.
bool chases_on_gpu(const WorkerCounts& workers, index_t b) { return workers.gpus > 0 && b <= largest_gpu_half_width; }

/// Returns the plan for a band of order n in tiles of `window` columns.
BulgePlan make_plan(const WorkerCounts& workers, index_t n, index_t half_width, index_t window, std::size_t element,
                    const BandToTridiagonalOptions& options) {
  require(options.sweeps >= 0, "band_to_tridiagonal", "options.sweeps", options.sweeps, " is negative");
  BulgePlan plan;
  plan.n = n;
  plan.b = std::min(half_width, std::max<index_t>(plan.n - 1, 1));
  const bool one_tile = n <= window, whole = chases_on_gpu(workers, plan.b) && one_tile;
  // For a band in one tile, the reflectors of a group are one tile: kept, or two tiles in alternation.
  const index_t suitable = whole ? std::max<index_t>(ceil_div(plan.n, options.vectors ? 4 : 16), 256)
                                 : sweeps_in_cache(plan.b, element),
                wanted = std::clamp<index_t>(options.sweeps > 0 ? options.sweeps : suitable, 1,
                                             std::max<index_t>(plan.sweeps(), 1));
  plan.window = window;
  if (one_tile)  // any number of columns that covers the band: there is nothing to its right
    plan.window = whole ? (ceil_div(plan.n, plan.b) + wanted + 1) * plan.b
                        : std::max(ceil_div(plan.n, plan.b), wanted + 1) * plan.b;
  plan.group = std::min(wanted, plan.window / plan.b - 1);
  return plan;
}

BulgeBlocks make_blocks(const WorkerCounts& workers, const BulgePlan& plan, const BandToTridiagonalOptions& options) {
  for (const auto& [value, name] :
       {std::pair{options.block, "options.block"}, std::pair{options.bundle, "options.bundle"}})
    require(value >= 0, "band_to_tridiagonal", name, value, " is negative");
  const index_t widest = chases_on_gpu(workers, plan.b) ? 32 : 16;
  BulgeBlocks blocks;
  blocks.chase = plan;
  blocks.width = ceil_div(options.block > 0 ? options.block : std::min<index_t>(plan.b / 2, widest), 4) * 4;
  blocks.width = std::max<index_t>(blocks.width, 4);
  blocks.blocks = ceil_div(options.bundle > 0 ? options.bundle : 128, blocks.width);
  return blocks;
}

/// Returns a priority on a GPU; on a core if the GPU variant does not support the sizes.
Priority placed(bool gpu, Priority priority) {
  if (!gpu) return {priority.value, false, -1, true};
  priority.gpu = true;
  priority.device = std::max(priority.device, 0);  // the same GPU for all: the band and its reflectors are large
  return priority;
}

constexpr index_t bundles_at_once = 3;  // bundles whose factors are kept

/// Returns the number of groups whose reflectors are kept. Running groups are two windows apart, and one more is
/// starting.
index_t kept_groups(const BulgePlan& plan, bool vectors) {
  return vectors ? plan.groups() : std::min(plan.groups(), plan.tiles() / 2 + 2);
}

/// Returns the number of tiles of a group's reflectors.
index_t kept_windows(const BulgePlan& plan, index_t group, bool vectors) {
  return plan.whole() ? 1 : vectors ? plan.last_window(group) - plan.first_window(group) + 1 : 2;
}

}  // namespace

void detail::plan_chase(MemoryPlan& plan, const EigShape& e) {
  const index_t n = e.n, window = band_window(e.workers, n, e.half_width), last = e.last(chase);
  const BulgePlan p = make_plan(e.workers, n, e.half_width, window, plan.element(), {.vectors = e.vectors});
  const bool gpu = chases_on_gpu(e.workers, p.b);
  const int place = gpu ? 0 : MemoryPlan::host;
  const double workers = gpu ? 1 : e.workers.cpus;
  const Shape band{2 * p.b, n};
  plan.hold({MemoryPlan::host, band, 1, gpu ? chase : to_band, back_transformation});
  if (gpu) plan.hold({place, band, 1, to_band, back_transformation});
  for (index_t group = 0; group < kept_groups(p, e.vectors); ++group)
    plan.hold(
        {place, {p.slot_rows(), p.slots(group)}, static_cast<double>(kept_windows(p, group, e.vectors)), chase, last});
  plan.hold({place, chase_work(p), workers, chase, chase});
  if (!e.vectors) return;
  const BulgeBlocks blocks = make_blocks(e.workers, p, {});
  if (blocks.bundles() == 0) return;
  const Shape forming = form_bulge_blocks_work(blocks), applying = apply_bulge_blocks_work(blocks, plan.element());
  plan.hold_on_each({.shape = {blocks.column_size(), blocks.columns()},
                     .at_once = static_cast<double>(std::min(blocks.bundles(), bundles_at_once)),
                     .first = back_transformation,
                     .last = back_transformation});
  for (const Shape& work : {forming, applying})
    plan.hold_on_each({.shape = work, .at_once = workers, .first = back_transformation, .last = back_transformation});
}

template <class T>
Tile<T> BulgeChase<T>::reflectors(index_t group, index_t window) const {
  const TileMatrix<T>& mine = reflectors_[static_cast<std::size_t>(group) % reflectors_.size()];
  return mine(0, (window - plan_.first_window(group)) % mine.nt());
}

template <class T>
BulgeChase<T>::BulgeChase(Graph& g, const SymmetricBand<T>& band, const BandToTridiagonalOptions& options)
    : band_(band),
      plan_(make_plan(g.runtime(), band.order(), band.half_width(), band.tiles().tile_shape().nb, sizeof(T), options)),
      vectors_(options.vectors),
      none_(g.runtime(), 1, 1, {1, 1}) {
  none_(0, 0).write()(0, 0) = T(0);
  for (index_t group = 0; group < kept_groups(plan_, vectors_); ++group) {
    const index_t windows = kept_windows(plan_, group, vectors_), slots = plan_.slots(group);
    reflectors_.emplace_back(g.runtime(), plan_.slot_rows(), windows * slots, TileShape{plan_.slot_rows(), slots}, "V");
  }
  blocks_ = make_blocks(g.runtime(), plan_, options);
  if (vectors_ && blocks_.bundles() > 0)
    factors_.emplace(g.runtime(), blocks_.column_size(),
                     blocks_.columns() * std::min(blocks_.bundles(), bundles_at_once),
                     TileShape{blocks_.column_size(), blocks_.columns()}, "W");
  const TileMatrix<T>& tiles = band_.tiles();
  std::vector<Tile<T>> touched;
  const bool gpu = chases_on_gpu(g.runtime(), plan_.b);
  const Shape room = chase_work(plan_);
  for (index_t group = 0; group < plan_.groups(); ++group)
    for (index_t w = plan_.first_window(group); w <= plan_.last_window(group); ++w) {
      const index_t first = std::max<index_t>(w - 1, 0);
      touched.clear();
      for (index_t j = first; j <= std::min(w, tiles.nt() - 1); ++j) touched.push_back(tiles(0, j));
      g.insert<ChaseBulges<T>>(placed(gpu, options.priority), {plan_, group, w, first * plan_.window},
                               w > plan_.first_window(group) ? reflectors(group, w - 1) : none_(0, 0),
                               reflectors(group, w), g.scratch<T>(room.rows, room.cols), touched);
    }
}

template <class T>
void BulgeChase<T>::apply(Graph& g, Op op, const TileMatrix<T>& X) const {
  require(X.m() == plan_.n, "BulgeChase::apply", "X", X, " does not have ", plan_.n, " rows");
  require(vectors_, "BulgeChase::apply", "options.vectors", "was false; without vectors there is no Q");
  if (X.n() == 0) return;
  const index_t height = X.tile_shape().mb, bundles = blocks_.bundles();
  const Shape forming = form_bulge_blocks_work(blocks_), applying = apply_bulge_blocks_work(blocks_, sizeof(T));
  const bool gpu = g.runtime().gpus() > 0 && gpu_applies(blocks_);
  std::vector<Tile<T>> kept, column;
  for (index_t i = 0; i < bundles; ++i) {
    const index_t bundle = op == Op::none ? bundles - 1 - i : i, first = (blocks_.first_sweep(bundle) + 1) / height;
    const Tile<T> factors = (*factors_)(0, bundle % factors_->nt());
    kept.clear();
    for (index_t group = blocks_.first_sweep(bundle) / plan_.group;
         plan_.first_sweep(group) < blocks_.end_sweep(bundle); ++group)
      for (index_t w = plan_.first_window(group); w <= plan_.last_window(group); ++w)
        kept.push_back(reflectors(group, w));
    g.insert<FormBulgeBlocks<T>>(placed(gpu && static_cast<index_t>(kept.size()) <= most_gpu_reflector_tiles, {1}),
                                 {blocks_, bundle, op}, factors, g.scratch<T>(forming.rows, forming.cols), kept);
    for (index_t j = 0; j < X.nt(); ++j) {
      column.clear();
      for (index_t r = first; r < X.mt(); ++r) column.push_back(X(r, j));
      g.insert<ApplyBulgeBlocks<T>>(placed(gpu && static_cast<index_t>(column.size()) <= most_gpu_row_tiles,
                                           on_gpu_number(static_cast<std::size_t>(j))),
                                    {blocks_, bundle, op, first * height, height}, factors,
                                    g.scratch<T>(applying.rows, applying.cols), column);
    }
  }
}

template <class T>
BulgeChase<T> band_to_tridiagonal(Graph& g, const SymmetricBand<T>& B, const BandToTridiagonalOptions& options) {
  return BulgeChase<T>(g, B, options);
}

index_t band_window(const WorkerCounts& workers, index_t n, index_t half_width) {
  const index_t b = std::clamp<index_t>(half_width, 1, std::max<index_t>(n - 1, 1));
  if (chases_on_gpu(workers, b)) return std::max<index_t>(ceil_div(n, b), 2) * b;
  // A group follows two windows behind the previous one, and sweeps get shorter: n / (3.7 windows) tasks can run
  // concurrently. Each should have at least half a million operations, 12 b^2 group^2.
  const index_t least = std::max<index_t>(224 / b, 1) + 1, wanted = n / (5 * std::max(workers.cpus, 1)) / b;
  return std::clamp<index_t>(wanted, least, std::max<index_t>(least, 17)) * b;
}

template class BulgeChase<float>;
template class BulgeChase<double>;
template BulgeChase<float> band_to_tridiagonal(Graph&, const SymmetricBand<float>&, const BandToTridiagonalOptions&);
template BulgeChase<double> band_to_tridiagonal(Graph&, const SymmetricBand<double>&, const BandToTridiagonalOptions&);

}  // namespace tesela
