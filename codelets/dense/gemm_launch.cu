#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cuda_runtime.h>

#include <algorithm>

// The kernels of the classic study of memory and data locality.
//
// The study is written for row-major matrices, where threadIdx.x (tx) runs along a row. A column-major C is the
// row-major C^T = op(B)^T op(A)^T, so the study's column index (block bx, thread tx) is our row i of C, and its row
// index (by, ty) is our column j. Consecutive tx are then consecutive addresses of C for every op.
//
// gridDim.y is at most 65535, so every block loops over the column tiles by, by + gridDim.y, ...

namespace tesela::kernels {
namespace {

constexpr index_t max_grid_y = 65535;

/// Address of op(X)(i, j) = data[i * row_stride + j * col_stride], one form for both ops.
template <class T>
struct Operand {
  const T* data;
  index_t row_stride;
  index_t col_stride;
  __device__ T operator()(index_t i, index_t j) const { return data[i * row_stride + j * col_stride]; }
};

template <class T>
Operand<T> operand(Op op, const T* data, index_t ld) {
  return op == Op::none ? Operand<T>{data, 1, ld} : Operand<T>{data, ld, 1};
}

/// Returns the inner dimension of the product: 0 if alpha == 0, because A and B must not be read then.
template <class T>
index_t depth(const GemmProblem<T>& p) {
  return p.alpha == T{0} ? 0 : p.k;
}

/// Stores C(i, j) := alpha sum + beta C(i, j); reads C only if beta is not 0.
template <class T>
__device__ void update(const GemmProblem<T>& p, index_t i, index_t j, T sum) {
  if (i >= p.m || j >= p.n) return;
  T& c = p.c[i + j * p.ldc];
  c = p.beta == T{0} ? p.alpha * sum : p.alpha * sum + p.beta * c;
}

template <class T>
__global__ void naive_kernel(GemmProblem<T> p, Operand<T> a, Operand<T> b, index_t depth) {
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const index_t step = static_cast<index_t>(gridDim.y) * blockDim.y;
  for (index_t j = static_cast<index_t>(blockIdx.y) * blockDim.y + threadIdx.y; j < p.n; j += step) {
    T sum{0};
    if (i < p.m) {
      for (index_t l = 0; l < depth; ++l) sum += a(i, l) * b(l, j);
    }
    update(p, i, j, sum);
  }
}

/// Multiplies through shared memory; Coarsening = 1 is gemm_shared, larger values are gemm_coarse. Thread tx owns the
/// rows Tile * (Coarsening * bx + r) + tx of C.
template <class T, int Tile, int Coarsening>
__global__ void __launch_bounds__(Tile* Tile)
    shared_kernel(GemmProblem<T> p, Operand<T> a, Operand<T> b, index_t depth, index_t tiles_n) {
  // The pitch is odd because an operand whose contiguous dimension is not tx is read along that dimension (to coalesce
  // the global reads) and transposed when it is stored. With an even pitch these stores would share one bank.
  __shared__ T a_tile[Coarsening][Tile][Tile + 1];  // [r][l][i]
  __shared__ T b_tile[Tile][Tile + 1];              // [j][l]
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const index_t i0 = static_cast<index_t>(blockIdx.x) * (Tile * Coarsening);
  const bool a_along_i = a.row_stride == 1;
  const bool b_along_l = b.row_stride == 1;
  const int ai = a_along_i ? tx : ty, al = a_along_i ? ty : tx;
  const int bl = b_along_l ? tx : ty, bj = b_along_l ? ty : tx;

  for (index_t tile_n = blockIdx.y; tile_n < tiles_n; tile_n += gridDim.y) {
    const index_t j0 = tile_n * Tile;
    T sum[Coarsening] = {};
    for (index_t l0 = 0; l0 < depth; l0 += Tile) {
      // Zeros beyond the edges add nothing, so the product loop needs no bounds.
      for (int r = 0; r < Coarsening; ++r) {
        const index_t i = i0 + r * Tile + ai;
        a_tile[r][al][ai] = i < p.m && l0 + al < depth ? a(i, l0 + al) : T{0};
      }
      b_tile[bj][bl] = l0 + bl < depth && j0 + bj < p.n ? b(l0 + bl, j0 + bj) : T{0};
      __syncthreads();
#pragma unroll
      for (int l = 0; l < Tile; ++l) {
        const T b_value = b_tile[ty][l];
        for (int r = 0; r < Coarsening; ++r) sum[r] += a_tile[r][l][tx] * b_value;
      }
      __syncthreads();
    }
    for (int r = 0; r < Coarsening; ++r) update(p, i0 + r * Tile + tx, j0 + ty, sum[r]);
  }
}

template <class T, int Tile, int Coarsening>
int launch_shared(CUstream_st* stream, const GemmProblem<T>& p) {
  const index_t tiles_m = ceil_div(p.m, Tile * Coarsening);
  const index_t tiles_n = ceil_div(p.n, Tile);
  const dim3 grid(static_cast<unsigned>(tiles_m), static_cast<unsigned>(std::min(tiles_n, max_grid_y)));
  shared_kernel<T, Tile, Coarsening><<<grid, dim3(Tile, Tile), 0, stream>>>(
      p, operand(p.op_a, p.a, p.lda), operand(p.op_b, p.b, p.ldb), depth(p), tiles_n);
  return static_cast<int>(cudaGetLastError());
}

template <class T, int Coarsening>
int launch_shared(CUstream_st* stream, const GemmProblem<T>& p, int tile) {
  if (tile != 16 && tile != 32) return static_cast<int>(cudaErrorInvalidValue);
  if (p.m == 0 || p.n == 0) return 0;
  if (tile == 16) return launch_shared<T, 16, Coarsening>(stream, p);
  if constexpr (gemm_coarse_fits(sizeof(T), 32, Coarsening)) return launch_shared<T, 32, Coarsening>(stream, p);
  return static_cast<int>(cudaErrorInvalidValue);
}

}  // namespace

template <class T>
int gemm_naive(CUstream_st* stream, const GemmProblem<T>& p, int tile) {
  if (tile < 1 || tile > 32) return static_cast<int>(cudaErrorInvalidValue);
  if (p.m == 0 || p.n == 0) return 0;
  const auto side = static_cast<unsigned>(tile);
  const dim3 grid(static_cast<unsigned>(ceil_div(p.m, tile)),
                  static_cast<unsigned>(std::min(ceil_div(p.n, tile), max_grid_y)));
  naive_kernel<<<grid, dim3(side, side), 0, stream>>>(p, operand(p.op_a, p.a, p.lda), operand(p.op_b, p.b, p.ldb),
                                                      depth(p));
  return static_cast<int>(cudaGetLastError());
}

template <class T>
int gemm_shared(CUstream_st* stream, const GemmProblem<T>& p, int tile) {
  return launch_shared<T, 1>(stream, p, tile);
}

template <class T>
int gemm_coarse(CUstream_st* stream, const GemmProblem<T>& p, int tile, int coarsening) {
  switch (coarsening) {
    case 1: return launch_shared<T, 1>(stream, p, tile);
    case 2: return launch_shared<T, 2>(stream, p, tile);
    case 4: return launch_shared<T, 4>(stream, p, tile);
    case 8: return launch_shared<T, 8>(stream, p, tile);
    default: return static_cast<int>(cudaErrorInvalidValue);
  }
}

TESELA_FUNCTIONS_FOR_REALS(gemm_naive, gemm_shared, gemm_coarse)

}  // namespace tesela::kernels
