#include <tesela/codelets/mimo/internal/ordered_search_body.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int threads = 64;

/// Builds one factorization per thread: neighbours write side by side, which saves more than shared first columns
/// would.
template <int N>
__global__ void __launch_bounds__(threads)
    factor_each(const double* r, Block<double> packed, index_t first, index_t count) {
  __shared__ double shared[N * N];
  for (int e = threadIdx.x; e < N * N; e += threads) shared[e] = r[e];
  __syncthreads();
  const index_t place = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (place < count) factor_run<N>(shared, packed, first + place, place, 1, false);
}

template <int N>
__global__ void __launch_bounds__(threads)
    factor_listed(const double* r, Block<const int> orders, Block<double> packed) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= orders.cols) return;
  double a[N * N], tau[N];
  factor_from<N>(0, r, orders.data + 1 + k * orders.ld, a, tau);
  store<N>(a, place_of(packed, k));
}

unsigned blocks_of(index_t lanes) { return static_cast<unsigned>(ceil_div(lanes, threads)); }

}  // namespace
}  // namespace mimo

void OrderedQr::cuda(CudaContext& context, const Args& args, In<double> r, Out<double> packed) {
  mimo::with_size(args.n, [&]<int N>() {
    mimo::factor_each<N>
        <<<mimo::blocks_of(args.count), mimo::threads, 0, context.stream()>>>(r.data, packed, args.first, args.count);
  });
  context.check(static_cast<int>(cudaGetLastError()), "the launch of ordered_qr");
}

void ListedQr::cuda(CudaContext& context, const Args&, In<double> r, In<int> orders, Out<double> packed) {
  if (orders.cols == 0) return;
  mimo::with_size(r.rows, [&]<int N>() {
    mimo::factor_listed<N>
        <<<mimo::blocks_of(orders.cols), mimo::threads, 0, context.stream()>>>(r.data, orders, packed);
  });
  context.check(static_cast<int>(cudaGetLastError()), "the launch of listed_qr");
}

namespace mimo {
namespace {

__global__ void __launch_bounds__(threads) search_all(OrderedSignals all) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < all.x.cols) all(k);
}

__global__ void __launch_bounds__(threads) order_all(Block<const double> products, Block<int> picks) {
  const index_t k = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < products.cols) gradient_order(products.rows, products.data + k * products.ld, picks.data + k * picks.ld);
}

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
