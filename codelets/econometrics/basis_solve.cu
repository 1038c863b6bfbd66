#include <tesela/codelets/econometrics/basis_solve.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace equation {
namespace {

constexpr int threads = 256, edge = 32;

/// A block a triangle, from the last rows up: a warp solves an edge's, and all take it from the rows above.
__global__ void __launch_bounds__(threads)
    solve_triangles(index_t n, const double* r, index_t ldr, double* x, index_t ldx) {
  __shared__ double solved[edge];
  r += blockIdx.x * n * ldr;
  x += blockIdx.x * ldx;
  for (index_t begin = (n - 1) / edge * edge; begin >= 0; begin -= edge) {
    const int w = static_cast<int>(n - begin < edge ? n - begin : edge), lane = threadIdx.x;
    const double* const square = r + begin + begin * ldr;
    if (lane < edge) {
      double own = lane < w ? x[begin + lane] : 0.0;
      for (int k = w - 1; k >= 0; --k) {
        const double value = __shfl_sync(0xffffffffu, own, k) / square[k + k * ldr];
        if (lane == k) own = value;
        if (lane < k) own -= square[lane + k * ldr] * value;
      }
      if (lane < w) x[begin + lane] = solved[lane] = own;
    }
    __syncthreads();
    for (index_t i = threadIdx.x; i < begin; i += threads) {
      double sum = 0;
      for (int k = 0; k < w; ++k) sum += r[i + (begin + k) * ldr] * solved[k];
      x[i] -= sum;
    }
    __syncthreads();
  }
}

}  // namespace
}  // namespace equation

void BasisSolve::cuda(CudaContext& context, const Args&, In<double> r, InOut<double> x) {
  using namespace equation;
  solve_triangles<<<static_cast<unsigned>(x.cols), threads, 0, context.stream()>>>(r.rows, r.data, r.ld, x.data, x.ld);
  context.check(cudaGetLastError(), "the launch of basis_solve");
}

}  // namespace tesela::kernels
