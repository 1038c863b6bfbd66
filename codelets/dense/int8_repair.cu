#include <tesela/codelets/dense/internal/int8_moduli.hpp>
#include <tesela/codelets/dense/internal/int8_steps.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cuda_runtime.h>

namespace tesela::kernels::int8 {
namespace {

constexpr int tile = 64, deep = 16, side = 16, threads = side * side, blocks = 264;

/// Reads a slice of 64 lines and 16 k; 0 outside.
template <class T>
__device__ void read_slice(T (&to)[deep][tile + 1], const Lines<T>& from, int x0, int l0) {
  for (int e = static_cast<int>(threadIdx.x); e < tile * deep; e += threads) {
    const int x = from.contiguous ? e / deep : e % tile, l = from.contiguous ? e % deep : e / tile;
    const bool inside = x0 + x < from.lines && l0 + l < from.k;
    to[l][x] = !inside ? T(0) : from.data[from.contiguous ? (x0 + x) * from.ld + l0 + l : x0 + x + (l0 + l) * from.ld];
  }
}

template <class T>
__global__ void __launch_bounds__(threads)
    repair_kernel(const Lines<T> a, const Lines<T> b, const int* rows, const int* columns, const int* found, T alpha,
                  T beta, T* c, index_t ldc) {
  if (*found == 0) return;
  __shared__ T left[deep][tile + 1], right[deep][tile + 1];
  __shared__ bool bad[2][tile];
  const int tiles_i = (a.lines + tile - 1) / tile, tiles_j = (b.lines + tile - 1) / tile;
  const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
  for (long long t = blockIdx.x; t < static_cast<long long>(tiles_i) * tiles_j; t += gridDim.x) {
    const int i0 = static_cast<int>(t % tiles_i) * tile, j0 = static_cast<int>(t / tiles_i) * tile;
    bool mine = false;
    if (threadIdx.x < 2 * tile) {
      const int q = static_cast<int>(threadIdx.x) % tile, which = static_cast<int>(threadIdx.x) / tile;
      const int line = (which == 0 ? i0 : j0) + q;
      mine = line < (which == 0 ? a.lines : b.lines) && (which == 0 ? rows : columns)[line] == not_finite;
      bad[which][q] = mine;
    }
    if (!__syncthreads_or(mine)) continue;
    T sum[4][4] = {};
    for (int l0 = 0; l0 < a.k; l0 += deep) {
      read_slice(left, a, i0, l0);
      read_slice(right, b, j0, l0);
      __syncthreads();
      for (int l = 0; l < deep && l0 + l < a.k; ++l)
#pragma unroll
        for (int q = 0; q < 4; ++q)
#pragma unroll
          for (int r = 0; r < 4; ++r) sum[q][r] += left[l][x + side * q] * right[l][y + side * r];
      __syncthreads();
    }
    for (int q = 0; q < 4; ++q)
      for (int r = 0; r < 4; ++r) {
        const int i = x + side * q, j = y + side * r;
        if (i0 + i >= a.lines || j0 + j >= b.lines || !(bad[0][i] || bad[1][j])) continue;
        T& to = c[i0 + i + (j0 + j) * ldc];
        to = beta == 0 ? alpha * sum[q][r] : alpha * sum[q][r] + beta * to;
      }
    __syncthreads();
  }
}

}  // namespace

template <class T>
int repair(CUstream_st* stream, const Lines<T>& a, const Lines<T>& b, const int* rows, const int* columns,
           const int* found, T alpha, T beta, T* c, index_t ldc) {
  repair_kernel<<<blocks, threads, 0, stream>>>(a, b, rows, columns, found, alpha, beta, c, ldc);
  return cudaGetLastError();
}

TESELA_FUNCTIONS_FOR_REALS(repair)

}  // namespace tesela::kernels::int8
