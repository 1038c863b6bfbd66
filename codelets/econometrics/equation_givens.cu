#include <tesela/codelets/econometrics/equation_givens.hpp>
#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/givens/rotation.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace equation {
namespace {

constexpr int threads = 512, lane_count = 32;

/// Sets z to the columns of Z and y, with zeros in places without a column.
__global__ void gather_columns(DeviceSelectedColumns picks, const double* a, index_t lda, index_t rows, double* z) {
  const int* const pick = picks.at(blockIdx.y, blockIdx.x);
  z += (blockIdx.x + blockIdx.y * (picks.r + 1)) * rows;
  for (index_t i = threadIdx.x; i < rows; i += blockDim.x)
    z[i] = pick[0] >= 0 && i < pick[1] ? a[i + pick[0] * lda] : 0.0;
}

/// Rotates one equation per block. In a stage all rotations change different rows: first all of them are computed, then
/// each warp rotates a column. `rotations` has 2 r elements per equation.
__global__ void __launch_bounds__(threads)
    rotate_staircases(DeviceSelectedColumns picks, index_t rows, double* z, double* rotations) {
  const index_t r = picks.r;
  z += blockIdx.x * rows * (r + 1);
  double *const c = rotations + blockIdx.x * 2 * r, *const s = c + r;
  const int warp = threadIdx.x / lane_count, lane = threadIdx.x % lane_count;
  for (index_t stage = 1; stage < rows + r - 1; ++stage) {
    const index_t first = stage < rows ? 0 : stage - rows + 1, last = (stage - 1) / 2 < r ? (stage - 1) / 2 : r - 1;
    bool found = false;
    for (index_t k = first + threadIdx.x; k <= last; k += threads) {
      Rotation<double> own;
      if (stage - k < picks.at(blockIdx.x, k)[1]) {
        double* const column = z + k * rows;
        const auto annihilation = givens(column[k], column[stage - k]);
        own = annihilation.rotation;
        column[k] = annihilation.r;
        column[stage - k] = 0;
        found = true;
      }
      c[k] = own.c;
      s[k] = own.s;
    }
    if (!__syncthreads_or(found)) continue;
    for (index_t j = first + 1 + warp; j <= r; j += threads / lane_count) {
      double* const column = z + j * rows;
      for (index_t k = first + lane; k <= last && k < j; k += lane_count)
        rotate(Rotation<double>{c[k], s[k]}, column[k], column[stage - k]);
    }
    __syncthreads();
  }
}

/// Sets L = R^T, with ones in places without a regressor, and copies Q^T y to `product`.
__global__ void copy_triangles(DeviceSelectedColumns picks, const double* z, index_t rows, double* l, double* product) {
  const index_t n = picks.r, i = blockIdx.x;  // column i of R
  z += blockIdx.y * rows * (n + 1);
  l += blockIdx.y * n * n;
  const bool there = picks.at(blockIdx.y, i)[0] >= 0;
  for (index_t j = threadIdx.x; j < n; j += blockDim.x)
    l[i + j * n] = j > i ? 0.0 : there ? z[j + i * rows] : j == i ? 1.0 : 0.0;
  if (threadIdx.x == 0) product[i + blockIdx.y * n] = there ? z[i + n * rows] : 0.0;
}

}  // namespace
}  // namespace equation

void EquationGivens::cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> facts,
                          Out<double> residual, Scratch<double> work) {
  using namespace equation;
  const index_t n = facts.rows - 1, count = args.count, all = n * count;
  if (all == 0) return;
  double* const z = work.data;
  const Lowers m{n, count, z + args.rows * (n + 1) * count, z + args.rows * (n + 1) * count + n * all};
  double *const rotations = m.y + n * all, *const vectors = rotations + 2 * all;
  const DeviceSelectedColumns p{picks.data, n};
  const DeviceFacts f{facts.data, facts.ld};
  CUstream_st* const stream = context.stream();
  const auto equations = static_cast<unsigned>(count), columns = static_cast<unsigned>(n);
  gather_columns<<<dim3(columns + 1, equations), 256, 0, stream>>>(p, a.data, a.ld, args.rows, z);
  rotate_staircases<<<equations, threads, 0, stream>>>(p, args.rows, z, rotations);
  // Q^T y overwrites the rotations, which have been applied.
  copy_triangles<<<dim3(columns, equations), 256, 0, stream>>>(p, z, args.rows, m.l, rotations);
  solve(context, m, rotations, n, f);
  invert(context, m);
  times(context, m, nullptr, false, f);
  residuals(context, m, a, picks.data, f, residual);
  state(context, m, picks.data, rotations, nullptr, vectors, f);
  context.check(cudaGetLastError(), "the launch of equation_givens");
}

}  // namespace tesela::kernels
