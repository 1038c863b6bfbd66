#include <tesela/codelets/econometrics/equation_bases.hpp>
#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/support/internal/factor_tile.cuh>

namespace tesela::kernels {
namespace equation {
namespace {

__global__ void gather_regressors(DeviceSelectedColumns picks, const double* a, index_t lda, index_t rows, double* z) {
  const int* const pick = picks.at(blockIdx.y, blockIdx.x);
  z += (blockIdx.x + blockIdx.y * picks.r) * rows;
  for (index_t i = threadIdx.x; i < rows; i += blockDim.x)
    z[i] = pick[0] >= 0 && i < pick[1] ? a[i + pick[0] * lda] : 0.0;
}

/// Makes products lower triangular: zeros above the diagonal, and ones on it in places without a regressor.
__global__ void make_lower(DeviceSelectedColumns picks, double* l) {
  const index_t n = picks.r, j = blockIdx.x;
  l += blockIdx.y * n * n + j * n;
  for (index_t i = threadIdx.x; i <= j; i += blockDim.x)
    if (i < j)
      l[i] = 0;
    else if (picks.at(blockIdx.y, j)[0] < 0)
      l[i] = 1;
}

/// Computes r = L^T of lower triangles, whose strict upper triangles are not read.
__global__ void transpose_lower(index_t n, const double* l, double* r, index_t ldr) {
  const index_t j = blockIdx.x;
  l += blockIdx.y * n * n;
  r += (j + blockIdx.y * n) * ldr;
  for (index_t i = threadIdx.x; i < n; i += blockDim.x) r[i] = i <= j ? l[j + i * n] : 0.0;
}

}  // namespace
}  // namespace equation

void EquationBases::cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> r,
                         Scratch<double> work, std::span<const Out<double>> q) {
  using namespace equation;
  constexpr int threads = 256;
  const index_t n = r.rows, count = args.count, rows = args.rows, each = n * n, tall = rows * n;
  if (n * count == 0) return;
  double *const z = work.data, *const first = z + tall * count, *const products = first + tall * count,
                *const inverses = products + each * count, *const second = inverses + each * count,
                *const product = second + each * count, *const failed = product + each * count;
  const DeviceSelectedColumns p{picks.data, n};
  CUstream_st* const stream = context.stream();
  const dim3 columns(static_cast<unsigned>(n), static_cast<unsigned>(count));
  const auto gemm = [&](Op a_op, Op b_op, index_t m, index_t inner, const double* x, index_t ldx, index_t next_x,
                        const double* y, index_t ldy, index_t next_y, double* to, index_t next) {
    context.check(cublas::gemm_batch(context.cublas(), a_op, b_op, m, n, inner, 1.0, x, ldx, next_x, y, ldy, next_y,
                                     0.0, to, m, next, count),
                  "cublas gemm of bases");
  };
  /// L of x^T x, and L^-T.
  const auto factor_products = [&](const double* x, double* l) {
    gemm(Op::transpose, Op::none, n, rows, x, rows, tall, x, rows, tall, l, each);
    make_lower<<<columns, threads, 0, stream>>>(p, l);
    factor::tiles(context, n, count, l, n, each, failed);
    make_lower<<<columns, threads, 0, stream>>>(p, l);  // products are also stored above the diagonal
    invert(context, Lowers{n, count, l, inverses});
  };
  context.check(cudaMemsetAsync(failed, 0, static_cast<std::size_t>(count) * sizeof(double), stream), "cudaMemset");
  gather_regressors<<<columns, threads, 0, stream>>>(p, a.data, a.ld, rows, z);
  factor_products(z, products);
  gemm(Op::none, Op::none, rows, n, z, rows, tall, inverses, n, each, first, tall);
  factor_products(first, second);
  for (index_t i = 0; i < count; ++i) {
    const Out<double>& own = q[static_cast<std::size_t>(i)];
    context.check(cublas::gemm(context.cublas(), Op::none, Op::none, rows, own.cols, own.cols, 1.0, first + i * tall,
                               rows, inverses + i * each, n, 0.0, own.data, own.ld),
                  "cublas gemm of a basis");
  }
  gemm(Op::none, Op::none, n, n, products, n, each, second, n, each, product, each);
  transpose_lower<<<columns, threads, 0, stream>>>(n, product, r.data, r.ld);
  context.check(cudaGetLastError(), "the launch of equation_bases");
}

}  // namespace tesela::kernels
