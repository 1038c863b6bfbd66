#include <tesela/algorithms/dense/products.hpp>
#include <tesela/algorithms/eigen/reflector_blocks.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/eigen/sy2sb.hpp>

#include <algorithm>

namespace tesela {

index_t reflector_columns(const WorkerCounts& workers, index_t n, bool vectors) {
  constexpr index_t wide = 2048;
  if (workers.gpus == 0) return 256;
  return vectors && workers.gpus == 1 && n >= 16384 &&
                 gemm_kernel(workers, GemmKernel::automatic, wide, n, n) == GemmKernel::int8
             ? wide
             : 1024;
}

template <class T>
void join_reflectors(Graph& g, const ReflectorBlock<T>& block, index_t width) {
  if (block.columns == 0) return;
  std::vector<Tile<T>> panels;
  for (index_t i = 0; i * width < block.columns; ++i) panels.push_back(block.panels(0, i));
  g.insert<kernels::JoinReflectors<T>>(on_gpu, {block.columns, width}, block.v(0, 0), block.t(0, 0), panels);
}

template <class T>
void apply_reflectors(Graph& g, Op op, const std::vector<ReflectorBlock<T>>& blocks, const TileMatrix<T>& X) {
  if (blocks.empty() || X.n() == 0) return;
  const index_t wide = std::min(X.n(), X.tile_shape().nb), columns = blocks.front().v.n();
  const Tile<T> work = g.scratch<T>(columns, workers_for<T>(g.runtime()).gpus > 0 ? 2 * wide : wide, 1);
  const Products of_q = products<T>(g, X.m(), wide, columns);
  const auto apply_one = [&](const ReflectorBlock<T>& block, index_t j) {
    if (block.columns > 0)
      g.insert<kernels::Larfb<T>>(on_gpu_number(static_cast<std::size_t>(j)),
                                  {op, block.top, block.columns, of_q.kernel}, block.v(0, 0), block.t(0, 0), X(0, j),
                                  work, of_q.work);
  };
  for (index_t j = 0; j < X.nt(); ++j)
    if (op != Op::none)
      for (const ReflectorBlock<T>& block : blocks) apply_one(block, j);
    else
      for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) apply_one(*block, j);
}

TESELA_FUNCTIONS_FOR_NUMBERS(join_reflectors, apply_reflectors)

}  // namespace tesela
