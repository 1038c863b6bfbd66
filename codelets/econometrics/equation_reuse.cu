#include <tesela/codelets/econometrics/equation_reuse.hpp>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/givens/rotation.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace equation {
namespace {

constexpr int threads = 512, lane_count = 32, columns_at_once = 4;

/// Sets w to the columns of `from` that the plan lists, with zeros below their heights.
__global__ void gather_plan(const int* plan, const double* from, index_t ldf, index_t rows, double* w, index_t ldw) {
  const int column = plan[2 * blockIdx.x], height = plan[2 * blockIdx.x + 1];
  for (index_t i = threadIdx.x; i < rows; i += blockDim.x)
    w[i + blockIdx.x * ldw] = i < height ? from[i + column * ldf] : 0.0;
}

/// Rotations of a staircase of r columns: stage i + k rotates rows k and i by at(i, k), if i is below the height of
/// column k.
struct Staircase {
  index_t r, rows;
  const int* places;  ///< (place, height) for each column; heights ascend
  Rotation<double>* rotations;
  __device__ index_t stages() const { return rows + r - 1; }
  __device__ index_t first(index_t stage) const { return stage < rows ? 0 : stage - rows + 1; }
  __device__ index_t last(index_t stage) const { return (stage - 1) / 2 < r ? (stage - 1) / 2 : r - 1; }
  __device__ bool rotates(index_t i, index_t k) const { return i < places[2 * k + 1]; }
  __device__ Rotation<double>& at(index_t i, index_t k) const { return rotations[k + i * r]; }

  /// Rotates column j in one stage, with the lanes of a warp.
  __device__ void rotate_column(index_t stage, index_t j, int lane, double* column) const {
    for (index_t k = first(stage) + lane; k <= last(stage) && k < j; k += lane_count)
      if (rotates(stage - k, k)) rotate(at(stage - k, k), column[k], column[stage - k]);
  }
};

/// Reduces the r columns to a triangle in one block, and keeps the rotations.
__global__ void __launch_bounds__(threads) reduce_columns(Staircase s, double* w, index_t ldw) {
  const int warp = threadIdx.x / lane_count, lane = threadIdx.x % lane_count;
  for (index_t stage = 1; stage < s.stages(); ++stage) {
    bool found = false;
    for (index_t k = s.first(stage) + threadIdx.x; k <= s.last(stage); k += threads) {
      if (!s.rotates(stage - k, k)) continue;
      double* const column = w + k * ldw;
      const auto annihilation = givens(column[k], column[stage - k]);
      s.at(stage - k, k) = annihilation.rotation;
      column[k] = annihilation.r;
      column[stage - k] = 0;
      found = true;
    }
    if (!__syncthreads_or(found)) continue;
    for (index_t j = s.first(stage) + 1 + warp; j < s.r; j += threads / lane_count)
      s.rotate_column(stage, j, lane, w + j * ldw);
    __syncthreads();
  }
}

/// Applies the rotations to the columns behind the triangle, one per warp.
__global__ void __launch_bounds__(lane_count* columns_at_once)
    rotate_others(Staircase s, index_t width, double* w, index_t ldw) {
  const index_t j = s.r + columns_at_once * index_t{blockIdx.x} + threadIdx.x / lane_count;
  if (j >= width) return;
  for (index_t stage = 1; stage < s.stages(); ++stage) {
    s.rotate_column(stage, j, threadIdx.x % lane_count, w + j * ldw);
    __syncwarp();
  }
}

/// Sets z to the triangle's columns in the order of picks, then Q^T y, and the heights of an ascending staircase that
/// holds them.
__global__ void order_columns(index_t r, const int* order, index_t ldo, index_t right, const double* w, index_t ldw,
                              double* z, int* places) {
  const index_t p = blockIdx.x, from = p < r ? order[p * ldo] : right;
  for (index_t i = threadIdx.x; i < r; i += blockDim.x) z[i + p * r] = p < r && i > from ? 0.0 : w[i + from * ldw];
  if (threadIdx.x > 0 || p == r) return;
  int height = 0;
  for (index_t q = 0; q <= p; ++q) height = order[q * ldo] < height ? height : order[q * ldo] + 1;
  places[2 * p + 1] = height;
}

/// Sets L = R^T and `product` to Q^T y.
__global__ void copy_triangle(index_t r, const double* z, double* l, double* product) {
  const index_t i = blockIdx.x;  // column i of R
  for (index_t j = threadIdx.x; j < r; j += blockDim.x) l[i + j * r] = j > i ? 0.0 : z[j + i * r];
  if (threadIdx.x == 0) product[i] = z[i + r * r];
}

void rotate_all(CUstream_st* stream, const Staircase& s, index_t width, double* w, index_t ldw) {
  reduce_columns<<<1, threads, 0, stream>>>(s, w, ldw);
  if (width > s.r)
    rotate_others<<<static_cast<unsigned>(ceil_div(width - s.r, index_t{columns_at_once})),
                    lane_count * columns_at_once, 0, stream>>>(s, width, w, ldw);
}

}  // namespace
}  // namespace equation

void EquationReuse::cuda(CudaContext& context, const Args& args, In<double> a, In<double> from, In<int> picks,
                         In<int> plan, In<int> order, Out<double> w, Out<double> facts, Out<double> residual,
                         Scratch<double> work) {
  using namespace equation;
  const index_t r = picks.cols - 2, rows = w.rows, width = w.cols;
  double* const z = work.data;
  const Lowers m{r, 1, z + r * (r + 1), z + r * (r + 1) + r * r};
  double *const product = m.y + r * r, *const vectors = product + r;
  int* const places = reinterpret_cast<int*>(vectors + 3 * r);
  auto* const rotations = reinterpret_cast<Rotation<double>*>(vectors + 4 * r);
  CUstream_st* const stream = context.stream();
  gather_plan<<<static_cast<unsigned>(width), 256, 0, stream>>>(plan.data, from.data, from.ld, rows, w.data, w.ld);
  rotate_all(stream, {r, rows, plan.data, rotations}, width, w.data, w.ld);
  order_columns<<<static_cast<unsigned>(r + 1), 128, 0, stream>>>(r, order.data, order.ld, args.right, w.data, w.ld, z,
                                                                  places);
  rotate_all(stream, {r, r, places, rotations}, r + 1, z, r);
  copy_triangle<<<static_cast<unsigned>(r), 128, 0, stream>>>(r, z, m.l, product);
  const DeviceFacts f{facts.data, facts.ld};
  solve(context, m, product, r, f);
  invert(context, m);
  times(context, m, nullptr, false, f);
  residuals(context, m, a, picks.data, f, residual);
  state(context, m, picks.data, product, nullptr, vectors, f);
  context.check(cudaGetLastError(), "the launch of equation_reuse");
}

}  // namespace tesela::kernels
