#pragma once

#include <tesela/codelets/support/internal/mma_f64.cuh>

// Products of small blocks by a warp: double on the tensor cores, float by multiply-adds. A warp's part of C is M x N
// fragments of 16 x 8 elements, four per lane. Internal to codelets/eigen.

namespace tesela::kernels {

/// Calls f(m, n, element, row, column) for each element of a lane.
template <int M, int N, class F>
__device__ inline void for_fragment(int lane, const F& f) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) f(m, n, e, 16 * m + lane / 4 + 8 * (e / 2), 8 * n + 2 * (lane % 4) + e % 2);
}

/// Computes C += A B with K inner indices, a multiple of 8: A's element (i, l) is a[i + l lda], B's b(l, j).
template <int M, int N, int K, class B>
__device__ inline void block_product(double (&c)[M][N][4], int lane, const double* a, int lda, const B& b) {
  const int i = lane / 4, l = lane % 4;
#pragma unroll
  for (int k = 0; k < K; k += 8) {
    double right[N][2];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      right[n][0] = b(k + l, 8 * n + i);
      right[n][1] = b(k + l + 4, 8 * n + i);
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const double* const from = a + 16 * m + i + (k + l) * lda;
      const double left[4] = {from[0], from[8], from[4 * lda], from[8 + 4 * lda]};
#pragma unroll
      for (int n = 0; n < N; ++n) multiply_add(c[m][n], left, right[n]);
    }
  }
}
template <int M, int N, int K, class B>
__device__ inline void block_product(float (&c)[M][N][4], int lane, const float* a, int lda, const B& b) {
  const int i = lane / 4, j = 2 * (lane % 4);
#pragma unroll 4
  for (int k = 0; k < K; ++k) {
    float right[N][2];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      right[n][0] = b(k, 8 * n + j);
      right[n][1] = b(k, 8 * n + j + 1);
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const float left[2] = {a[16 * m + i + k * lda], a[16 * m + i + 8 + k * lda]};
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) c[m][n][e] += left[e / 2] * right[n][e % 2];
    }
  }
}

}  // namespace tesela::kernels
