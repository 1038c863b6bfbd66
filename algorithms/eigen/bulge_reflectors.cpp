#include <tesela/algorithms/eigen/bulge_reflectors.hpp>
#include <tesela/algorithms/eigen/internal/eig_plan.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/eigen/bulge_chase.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <utility>

namespace tesela {

using namespace kernels;

namespace {

/// Returns the number of sweeps whose blocks fit into a core's cache together.
index_t sweeps_in_cache(index_t b, std::size_t element) {
  constexpr index_t cache = 1 << 19;
  return std::clamp<index_t>(cache / (2 * b * b * static_cast<index_t>(element)), 1, 32);
}

}  // namespace

bool chases_on_gpu(const WorkerCounts& workers, index_t b) { return workers.gpus > 0 && b <= largest_gpu_half_width; }

index_t largest_half_width(const WorkerCounts& workers) {
  return workers.gpus_on_all_ranks ? largest_gpu_half_width : largest_gpu_half_width / 2;
}

Priority chase_priority(bool gpu, Priority priority) {
  if (!gpu) return {priority.value, false, -1, true};
  priority.gpu = true;
  priority.device = std::max(priority.device, 0);  // the same GPU for all: the band and its reflectors are large
  return priority;
}

BulgePlan bulge_plan(const WorkerCounts& workers, index_t n, index_t half_width, index_t window, std::size_t element,
                     const BulgeOptions& options) {
  require(options.sweeps >= 0, "band_to_tridiagonal", "options.sweeps", options.sweeps, " is negative");
  BulgePlan plan;
  plan.n = n;
  plan.b = std::min(half_width, std::max<index_t>(plan.n - 1, 1));
  require(workers.cpus > 0 || workers.gpus == 0 || plan.b <= largest_half_width(workers), "band_to_tridiagonal",
          "half-width", plan.b, "; GPUs without cores accept at most ", largest_half_width(workers));
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

namespace {

/// parts  2 for complex numbers, 1 for real numbers
BulgeBlocks make_blocks(const WorkerCounts& workers, const BulgePlan& plan, index_t parts,
                        const BulgeOptions& options) {
  for (const auto& [value, name] :
       {std::pair{options.block, "options.block"}, std::pair{options.bundle, "options.bundle"}})
    require(value >= 0, "band_to_tridiagonal", name, value, " is negative");
  const index_t widest = chases_on_gpu(workers, plan.b) ? widest_gpu_block / parts : 16;
  const bool gpus_alone = workers.gpus > 0 && workers.cpus == 0;  // no core forms blocks too large for a GPU
  BulgeBlocks blocks;
  blocks.chase = plan;
  blocks.width = ceil_div(options.block > 0 ? options.block : std::min<index_t>(plan.b / 2, widest), 4) * 4;
  blocks.width = std::max<index_t>(blocks.width, 4);
  if (gpus_alone) blocks.width = std::min(blocks.width, widest_gpu_block / parts);
  blocks.blocks = ceil_div(options.bundle > 0 ? options.bundle : 128 / parts, blocks.width);
  if (gpus_alone)
    blocks.blocks = std::min(blocks.blocks, (most_gpu_ring_rows / parts - blocks.length() - plan.b) / blocks.width + 1);
  return blocks;
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
  const BulgePlan p = bulge_plan(e.workers, n, e.half_width, window, plan.element(), {.vectors = e.vectors});
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
  const bool complex = plan.element() == 16 || (gpu && !e.workers.gpus_on_all_ranks);
  const BulgeBlocks blocks = make_blocks(e.workers, p, complex ? 2 : 1, {});
  if (blocks.bundles() == 0) return;
  const Shape forming = form_bulge_blocks_work(blocks),
              applying = complex ? apply_bulge_blocks_work<std::complex<double>>(blocks)
                                 : apply_bulge_blocks_work(blocks, plan.element());
  plan.hold_on_each(
      {.shape = {complex ? factor_rows<std::complex<double>>(blocks) : blocks.column_size(), blocks.columns()},
       .at_once = static_cast<double>(std::min(blocks.bundles(), bundles_at_once)),
       .first = back_transformation,
       .last = back_transformation});
  for (const Shape& work : {forming, applying})
    plan.hold_on_each({.shape = work, .at_once = workers, .first = back_transformation, .last = back_transformation});
}

template <class T>
BulgeReflectors<T>::BulgeReflectors(Runtime& runtime, const WorkerCounts& workers, const BulgePlan& plan,
                                    const BulgeOptions& options)
    : plan_(plan), blocks_(make_blocks(workers, plan, parts_of<T>, options)), kept_(options.vectors) {
  for (index_t group = 0; group < kept_groups(plan_, kept_); ++group) {
    const index_t windows = kept_windows(plan_, group, kept_), slots = plan_.slots(group);
    groups_.emplace_back(runtime, plan_.slot_rows(), windows * slots, TileShape{plan_.slot_rows(), slots}, "V");
  }
  if (kept_ && blocks_.bundles() > 0)
    factors_.emplace(runtime, factor_rows<T>(blocks_), blocks_.columns() * std::min(blocks_.bundles(), bundles_at_once),
                     TileShape{factor_rows<T>(blocks_), blocks_.columns()}, "W");
}

template <class T>
Tile<T> BulgeReflectors<T>::tile(index_t group, index_t window) const {
  const TileMatrix<T>& mine = groups_[static_cast<std::size_t>(group) % groups_.size()];
  return mine(0, (window - plan_.first_window(group)) % mine.nt());
}

template <class T>
void BulgeReflectors<T>::apply(Graph& g, Op op, const TileMatrix<T>& X) const {
  require(X.m() == plan_.n, "BulgeReflectors::apply", "X", X, " does not have ", plan_.n, " rows");
  require(kept_, "BulgeReflectors::apply", "options.vectors", "was false; without vectors there is no Q");
  if (X.n() == 0) return;
  const index_t height = X.tile_shape().mb, bundles = blocks_.bundles();
  const Shape forming = form_bulge_blocks_work(blocks_), applying = apply_bulge_blocks_work<T>(blocks_);
  const bool gpu = workers_for<T>(g.runtime()).gpus > 0 && gpu_applies(plan_of_parts<T>(blocks_));
  std::vector<Tile<T>> kept, column;
  for (index_t i = 0; i < bundles; ++i) {
    const index_t bundle = op == Op::none ? bundles - 1 - i : i, first = (blocks_.first_sweep(bundle) + 1) / height;
    const Tile<T> factors = (*factors_)(0, bundle % factors_->nt());
    kept.clear();
    for (index_t group = blocks_.first_sweep(bundle) / plan_.group;
         plan_.first_sweep(group) < blocks_.end_sweep(bundle); ++group)
      for (index_t w = plan_.first_window(group); w <= plan_.last_window(group); ++w) kept.push_back(tile(group, w));
    g.insert<FormBulgeBlocks<T>>(chase_priority(gpu, {1}), {blocks_, bundle, op}, factors,
                                 g.scratch<T>(forming.rows, forming.cols), kept);
    for (index_t j = 0; j < X.nt(); ++j) {
      column.clear();
      for (index_t r = first; r < X.mt(); ++r) column.push_back(X(r, j));
      g.insert<ApplyBulgeBlocks<T>>(chase_priority(gpu && static_cast<index_t>(column.size()) <= most_gpu_row_tiles,
                                                   on_gpu_number(static_cast<std::size_t>(j))),
                                    {blocks_, bundle, op, first * height, height}, factors,
                                    g.scratch<T>(applying.rows, applying.cols), column);
    }
  }
}

index_t band_window(const WorkerCounts& workers, index_t n, index_t half_width) {
  const index_t b = std::clamp<index_t>(half_width, 1, std::max<index_t>(n - 1, 1));
  if (chases_on_gpu(workers, b)) return std::max<index_t>(ceil_div(n, b), 2) * b;
  // A group follows two windows behind the previous one, and sweeps get shorter: n / (3.7 windows) tasks can run
  // concurrently. Each should have at least half a million operations, 12 b^2 group^2.
  const index_t least = std::max<index_t>(224 / b, 1) + 1, wanted = n / (5 * std::max(workers.cpus, 1)) / b;
  return std::clamp<index_t>(wanted, least, std::max<index_t>(least, 17)) * b;
}

TESELA_CLASSES_FOR_NUMBERS(BulgeReflectors)

}  // namespace tesela
