#pragma once

#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/internal/mma_f64.cuh>

// Products of small blocks by a warp: double on the tensor cores, float by multiply-adds, complex numbers by four
// products of their parts. A warp's part of C is M x N
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
__device__ inline void block_product(DeviceComplex<double> (&c)[M][N][4], int lane, const DeviceComplex<double>* a,
                                     int lda, const B& b) {
  const int i = lane / 4, l = lane % 4;
  double re[M][N][4] = {}, im[M][N][4] = {};
#pragma unroll 2
  for (int k = 0; k < K; k += 8) {
    double right_re[N][2], right_im[N][2], minus_im[N][2];
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const DeviceComplex<double> x = b(k + l + 4 * e, 8 * n + i);
        right_re[n][e] = x.re;
        right_im[n][e] = x.im;
        minus_im[n][e] = -x.im;
      }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      double left_re[4], left_im[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const DeviceComplex<double> x = a[16 * m + i + 8 * (e % 2) + (k + l + 4 * (e / 2)) * lda];
        left_re[e] = x.re;
        left_im[e] = x.im;
      }
#pragma unroll
      for (int n = 0; n < N; ++n) {
        multiply_add(re[m][n], left_re, right_re[n]);
        multiply_add(im[m][n], left_re, right_im[n]);
        multiply_add(re[m][n], left_im, minus_im[n]);
        multiply_add(im[m][n], left_im, right_re[n]);
      }
    }
  }
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) c[m][n][e] += DeviceComplex<double>(re[m][n][e], im[m][n][e]);
}
/// The same without tensor cores, for float and its complex numbers.
template <int M, int N, int K, class T, class B>
__device__ inline void block_product(T (&c)[M][N][4], int lane, const T* a, int lda, const B& b) {
  const int i = lane / 4, j = 2 * (lane % 4);
#pragma unroll 4
  for (int k = 0; k < K; ++k) {
    T right[N][2];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      right[n][0] = b(k, 8 * n + j);
      right[n][1] = b(k, 8 * n + j + 1);
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const T left[2] = {a[16 * m + i + k * lda], a[16 * m + i + 8 + k * lda]};
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) c[m][n][e] = plus_product(c[m][n][e], left[e / 2], right[n][e % 2]);
    }
  }
}

}  // namespace tesela::kernels
