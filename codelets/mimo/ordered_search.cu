#include <tesela/codelets/mimo/internal/ordered_search_body.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int threads = 64;

__global__ void __launch_bounds__(threads) search_all(OrderedSignals all) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < all.x.cols) all(k);
}

__global__ void __launch_bounds__(threads) order_all(Block<const double> products, Block<int> picks) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < products.cols) gradient_order(products.rows, products.data + k * products.ld, picks.data + k * picks.ld);
}

unsigned blocks_of(index_t lanes) { return static_cast<unsigned>(ceil_div(lanes, threads)); }

}  // namespace
}  // namespace mimo

void GradientOrder::cuda(CudaContext& context, const Args&, In<double> products, Out<int> picks) {
  if (products.cols == 0) return;
  mimo::order_all<<<mimo::blocks_of(products.cols), mimo::threads, 0, context.stream()>>>(products, picks);
  context.check(static_cast<int>(cudaGetLastError()), "the launch of gradient_order");
}

void OrderedSearch::cuda(CudaContext& context, const Args& args, In<double> h, In<double> base, In<double> packed,
                         In<double> x, In<int> picks, In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                         Out<SearchReport> reports) {
  if (x.cols == 0) return;
  const mimo::OrderedSignals all{args, h, base, packed, x, picks, columns.data, points.data, labels, reports};
  mimo::search_all<<<mimo::blocks_of(x.cols), mimo::threads, 0, context.stream()>>>(all);
  context.check(static_cast<int>(cudaGetLastError()), "the launch of ordered_search");
}

}  // namespace tesela::kernels
