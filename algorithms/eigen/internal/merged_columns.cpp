#include <tesela/algorithms/eigen/internal/merged_columns.hpp>
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>

#include <algorithm>
#include <limits>

namespace tesela::detail {

using kernels::MergeColumns;
using kernels::MergeProduct;

MergeShape suitable_shape(const WorkerCounts& workers, index_t n, bool on_gpus, index_t rows, index_t batch) {
  MergeShape shape{n, 512, 256, 2 * std::max(workers.cpus, 1)};
  if (on_gpus)
    shape = {n, std::numeric_limits<index_t>::max(), workers.gpus > 1 ? 2048 : 4096, 2 * workers.gpus, workers.gpus};
  if (rows > 0) shape.rows = rows;
  if (batch > 0) shape.batch = batch;
  return shape;
}

template <class T>
void MergedColumns<T>::gather(Graph& g, const MergeShape& shape, const Deflation<T>& deflation,
                              const ColumnPlan<T>& columns, index_t begin, std::vector<RowBlock<T>> half) {
  const bool upper = blocks_.empty();
  const auto rotations = static_cast<index_t>(columns.pairs.size()) / 2,
             kept = upper ? deflation.upper : deflation.lower,
             deflated = static_cast<index_t>(columns.sources.size()) - kept;
  std::vector<index_t> plan = columns.sources;
  plan.insert(plan.end(), columns.pairs.begin(), columns.pairs.end());
  const auto plan_tile = one_tile(g.runtime(), static_cast<index_t>(plan.size()), plan, "plan");
  std::vector<T> cosines_then_sines(columns.cosines_and_sines.size());
  for (std::size_t i = 0; i < cosines_then_sines.size(); ++i)
    cosines_then_sines[i / 2 + (i % 2) * static_cast<std::size_t>(rotations)] = columns.cosines_and_sines[i];
  if (rotations == 0) cosines_then_sines = {1, 0};
  const auto rotation_tile = one_tile(g.runtime(), std::max<index_t>(rotations, 1), cosines_then_sines, "rotations");

  for (std::size_t b = 0; b < half.size();) {
    RowBlock<T> result;
    std::vector<Tile<T>> sources;
    index_t together = 0;
    do {  // as many source blocks as fit into one block of the result
      result.rows += half[b].rows;
      half[b++].append_to(sources);
      ++together;
    } while (b < half.size() && result.rows + half[b].rows <= shape.rows);
    const index_t rows = result.rows;
    Block block{std::move(result), begin, upper, one_tile<T>(g.runtime(), rows, kept, "kept")};
    const auto stand = one_tile<T>(g.runtime(), rows, deflated, "deflated");
    g.insert<MergeColumns<T>>(shape.place(begin), {together, kept, deflated, rotations}, plan_tile(0, 0),
                              rotation_tile(0, 0), block.kept(0, 0), stand(0, 0), sources);
    if (deflated > 0) block.stand = stand;
    blocks_.push_back(std::move(block));
    begin += rows;
  }
}

template <class T>
void MergedColumns<T>::multiply(Graph& g, const MergeShape& shape, const Deflation<T>& deflation,
                                const Tile<T>& vectors, index_t count, const Products& products) {
  const index_t alone_above = deflation.k() - deflation.lower;  // poles without rows in the lower half
  for (Block& block : blocks_) {
    const index_t skip = block.upper ? 0 : alone_above, inner = block.upper ? deflation.upper : deflation.lower;
    block.result.tiles.push_back(one_tile<T>(g.runtime(), block.result.rows, count, "X"));
    g.insert<MergeProduct<T>>(shape.place(block.begin), {skip, inner, products.kernel}, block.kept(0, 0), vectors,
                              block.result.tiles.back()(0, 0), products.work);
  }
}

template <class T>
std::vector<RowBlock<T>> MergedColumns<T>::finish() {
  std::vector<RowBlock<T>> all;
  for (Block& block : blocks_) {
    if (block.stand) block.result.tiles.push_back(*block.stand);
    all.push_back(std::move(block.result));
  }
  blocks_.clear();
  return all;
}

template <class T>
index_t MergedColumns<T>::rows() const {
  index_t rows = 0;
  for (const Block& block : blocks_) rows = std::max(rows, block.result.rows);
  return rows;
}

TESELA_CLASSES_FOR_REALS(MergedColumns)

}  // namespace tesela::detail
