#include <tesela/codelets/eigen/bidiagonal/bidiagonal_merge.hpp>
#include <tesela/codelets/eigen/internal/secular_kernels.cuh>

namespace tesela::kernels {
namespace secular {
namespace {

using SingularColumns = Columns<double, Equation::singular_value>;

/// Writes right vectors, and left vectors with -1 in the row of the pole 0, before they are normalized.
__global__ void vector_pairs_kernel(SingularColumns columns, Block<double> right, Block<double> left) {
  constexpr int together = SingularColumns::together;
  const index_t first = index_t{blockIdx.x} * together;
  const auto chosen = columns.choose(first);
  double of_right[together]{}, of_left[together]{};
  columns.each(chosen, [&](index_t r, int u, double x) {
    const double y = columns.d[columns.order[r]] * x;
    of_right[u] += x * x;
    of_left[u] += y * y;
  });
  for (int u = 0; u < together; ++u) {
    of_right[u] = 1 / sqrt(internal::block_sum(of_right[u]));
    of_left[u] = 1 / sqrt(internal::block_sum(of_left[u]) + 1);
  }
  columns.each(chosen, [&](index_t r, int u, double x) {
    if (first + u >= columns.count) return;
    const index_t i = columns.order[r];
    entry(right, r, first + u) = x * of_right[u];
    entry(left, r, first + u) = (i == 0 ? -1 : columns.d[i] * x) * of_left[u];
  });
}

}  // namespace
}  // namespace secular

using namespace secular;

void SingularRoots::cuda(CudaContext& context, const Args& args, In<double> poles, Out<double> roots) {
  launch_roots<double, Equation::singular_value>(context.stream(), poles, 1, args.first, roots);
}

void SingularWeights::cuda(CudaContext& context, const Args& args, In<double> poles, Out<double> weights,
                           Scratch<double> work, std::span<const In<double>> roots) {
  launch_weights<double, Equation::singular_value>(context.stream(), poles, args.first, weights, work, roots);
}

void SingularVectorPairs::cuda(CudaContext& context, const Args&, In<double> poles, In<index_t> order, In<double> roots,
                               Out<double> right, Out<double> left, Scratch<double> work,
                               std::span<const In<double>> weights) {
  stack_columns<double>(context.stream(), weights, 1, work);
  vector_pairs_kernel<<<blocks_of(roots.rows, SingularColumns::together), internal::each_threads, 0,
                        context.stream()>>>(
      {poles.rows, roots.rows, &poles(0, 0), work.data, order.data, &roots(0, 0), &roots(0, 1)}, right, left);
}

}  // namespace tesela::kernels
