#include <tesela/codelets/econometrics/equation_gram.hpp>
#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/internal/factor_tile.cuh>

namespace tesela::kernels {
namespace equation {
namespace {

using kernels::internal::block_sum;
using kernels::internal::each_threads;

/// Copies each equation's part of the products: the lower triangle of Z^T Z, zeros above it, and Z^T y.
__global__ void gather_products(DeviceSelectedColumns picks, const double* gram, index_t ldg, double* l,
                                double* right) {
  const index_t n = picks.r, j = blockIdx.x;
  const auto product = [&](int a, int b) { return a < b ? gram[a + b * ldg] : gram[b + a * ldg]; };
  const int c = picks.at(blockIdx.y, j)[0], y = picks.at(blockIdx.y, n)[0];
  l += blockIdx.y * n * n + j * n;
  for (index_t i = threadIdx.x; i < n; i += each_threads) {
    const int row = picks.at(blockIdx.y, i)[0];
    l[i] = i < j ? 0.0 : row >= 0 && c >= 0 ? product(row, c) : i == j ? 1.0 : 0.0;
  }
  if (threadIdx.x == 0) right[j + blockIdx.y * n] = c >= 0 ? product(c, y) : 0.0;
}

/// Computes Z^T times the residual.
__global__ void __launch_bounds__(each_threads)
    normal_residuals(DeviceSelectedColumns picks, const double* a, index_t lda, const double* residual, index_t ldr,
                     double* to) {
  const int* const pick = picks.at(blockIdx.y, blockIdx.x);
  residual += blockIdx.y * ldr;
  double sum = 0;
  if (pick[0] >= 0)
    for (index_t i = threadIdx.x; i < pick[1]; i += each_threads) sum += a[i + pick[0] * lda] * residual[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) to[blockIdx.x + blockIdx.y * picks.r] = sum;
}

struct Add {
  const double* from;
  double* to;
  __device__ void operator()(index_t i, index_t) const { to[i] += from[i]; }
};

}  // namespace
}  // namespace equation

void EquationGram::cuda(CudaContext& context, const Args& args, In<double> a, In<double> gram, In<int> picks,
                        Out<double> facts, Out<double> residual, Scratch<double> work) {
  using namespace equation;
  const index_t n = facts.rows - 1, count = args.count, all = n * count;
  if (all == 0) return;
  const Lowers m{n, count, work.data, work.data + n * all};
  double *const right = m.y + n * all, *const product = right + all, *const change = product + all,
                *const vectors = change + all, *const failed = vectors + 3 * all;
  const DeviceSelectedColumns p{picks.data, n};
  const DeviceFacts f{facts.data, facts.ld};
  CUstream_st* const stream = context.stream();
  const dim3 columns(static_cast<unsigned>(n), static_cast<unsigned>(count));
  context.check(cudaMemsetAsync(failed, 0, static_cast<std::size_t>(count) * sizeof(double), stream), "cudaMemset");
  gather_products<<<columns, each_threads, 0, stream>>>(p, gram.data, gram.ld, m.l, right);
  factor::tiles(context, n, count, m.l, n, n * n, failed);
  invert(context, m);
  // b = R^-1 R^-T Z^T y, and the same for the residual.
  transposed_times(context, m, right, product);
  times(context, m, product, false, f);
  residuals(context, m, a, picks.data, f, residual);
  normal_residuals<<<columns, each_threads, 0, stream>>>(p, a.data, a.ld, residual.data, residual.ld, right);
  transposed_times(context, m, right, change);
  times(context, m, change, true, f);
  residuals(context, m, a, picks.data, f, residual);
  kernels::internal::each(context, all, 1, Add{change, product});
  state(context, m, picks.data, product, failed, vectors, f);
  context.check(cudaGetLastError(), "the launch of equation_gram");
}

}  // namespace tesela::kernels
