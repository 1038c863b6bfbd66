#pragma once

// cuBLAS with one name for all element types. Only for CUDA variants.

#include <tesela/host/by_type.hpp>
#include <tesela/runtime/cuda_context.hpp>
#include <tesela/runtime/types.hpp>

#include <cublas_v2.h>

#include <complex>

namespace tesela::cublas {

inline cublasOperation_t to_cublas(Op op) {
  return op == Op::none ? CUBLAS_OP_N : op == Op::transpose ? CUBLAS_OP_T : CUBLAS_OP_C;
}

/// Returns a pointer to numbers in cuBLAS's types, which have the same bytes.
template <class T>
auto numbers(T* x) {
  if constexpr (std::is_same_v<T, std::complex<float>>)
    return reinterpret_cast<cuComplex*>(x);
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return reinterpret_cast<cuDoubleComplex*>(x);
  else if constexpr (std::is_same_v<T, const std::complex<float>>)
    return reinterpret_cast<const cuComplex*>(x);
  else if constexpr (std::is_same_v<T, const std::complex<double>>)
    return reinterpret_cast<const cuDoubleComplex*>(x);
  else
    return x;
}

/// Computes C = alpha op(A) op(B) + beta C; C is m x n, k the inner size. Returns a cublasStatus_t.
template <class T>
int gemm(cublasContext* handle, Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda,
         const T* b, index_t ldb, T beta, T* c, index_t ldc) {
  const cublasOperation_t a_op = to_cublas(op_a), b_op = to_cublas(op_b);
  return by_type<T, cublasSgemm_v2_64, cublasDgemm_v2_64, cublasCgemm_v2_64, cublasZgemm_v2_64>(
      handle, a_op, b_op, m, n, k, numbers(&alpha), numbers(a), lda, numbers(b), ldb, numbers(&beta), numbers(c), ldc);
}

/// Computes the same for `count` triples of matrices at constant distances in elements. Returns a cublasStatus_t.
template <class T>
int gemm_batch(cublasContext* handle, Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a,
               index_t lda, index_t next_a, const T* b, index_t ldb, index_t next_b, T beta, T* c, index_t ldc,
               index_t next_c, index_t count) {
  const cublasOperation_t a_op = to_cublas(op_a), b_op = to_cublas(op_b);
  return by_type<T, cublasSgemmStridedBatched_64, cublasDgemmStridedBatched_64, cublasCgemmStridedBatched_64,
                 cublasZgemmStridedBatched_64>(handle, a_op, b_op, m, n, k, numbers(&alpha), numbers(a), lda, next_a,
                                               numbers(b), ldb, next_b, numbers(&beta), numbers(c), ldc, next_c, count);
}

/// Solves with a triangular factor A of order m (left) or n (right): X = op(A)^-1 X or X = X op(A)^-1, X m x n. Returns
/// a cublasStatus_t.
template <class T>
int solve(cublasContext* handle, cublasSideMode_t side, cublasFillMode_t half, Op op, cublasDiagType_t diagonal,
          index_t m, index_t n, const T* a, index_t lda, T* x, index_t ldx) {
  const T one = 1;
  return by_type<T, cublasStrsm_v2_64, cublasDtrsm_v2_64, cublasCtrsm_v2_64, cublasZtrsm_v2_64>(
      handle, side, half, to_cublas(op), diagonal, m, n, numbers(&one), numbers(a), lda, numbers(x), ldx);
}

/// Solves X = op(R)^-1 X, R upper triangular, X m x n. Returns a cublasStatus_t.
template <class T>
int trsm(cublasContext* handle, Op op, index_t m, index_t n, const T* r, index_t ldr, T* x, index_t ldx) {
  return solve(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, m, n, r, ldr, x, ldx);
}

/// Solves X = X R^-1, R upper triangular, n x n, X m x n. Returns a cublasStatus_t.
template <class T>
int trsm_right(cublasContext* handle, index_t m, index_t n, const T* r, index_t ldr, T* x, index_t ldx) {
  return solve(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, Op::none, CUBLAS_DIAG_NON_UNIT, m, n, r, ldr, x, ldx);
}

/// Computes y = alpha op(A) x + beta y, A m x n. Returns a cublasStatus_t.
template <class T>
int gemv(cublasContext* handle, Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, index_t incx,
         T beta, T* y, index_t incy) {
  return by_type<T, cublasSgemv_v2_64, cublasDgemv_v2_64>(handle, to_cublas(op), m, n, &alpha, a, lda, x, incx, &beta,
                                                          y, incy);
}

/// Writes ||x||_2 to the device's memory. Returns a cublasStatus_t.
template <class T>
int nrm2(cublasContext* handle, index_t n, const T* x, T* result) {
  if (const int status = cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE); status != 0) return status;
  const int status = by_type<T, cublasSnrm2_v2_64, cublasDnrm2_v2_64>(handle, n, x, 1, result);
  const int back = cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST);
  return status != 0 ? status : back;
}

/// Computes X = op(R) X, or from the right X op(R), R upper triangular, X m x n. Returns a cublasStatus_t.
template <class T>
int trmm(cublasContext* handle, Side side, Op op, index_t m, index_t n, const T* r, index_t ldr, T* x, index_t ldx) {
  const T one = 1;
  const cublasSideMode_t from = side == Side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  return by_type<T, cublasStrmm_v2_64, cublasDtrmm_v2_64, cublasCtrmm_v2_64, cublasZtrmm_v2_64>(
      handle, from, CUBLAS_FILL_MODE_UPPER, to_cublas(op), CUBLAS_DIAG_NON_UNIT, m, n, numbers(&one), numbers(r), ldr,
      numbers(x), ldx, numbers(x), ldx);
}

/// Solves X = op(L)^-1 X, L unit lower triangular, X m x n. Returns a cublasStatus_t.
template <class T>
int solve_unit_lower(cublasContext* handle, Op op, index_t m, index_t n, const T* l, index_t ldl, T* x, index_t ldx) {
  if (n == 1)
    return by_type<T, cublasStrsv_v2_64, cublasDtrsv_v2_64, cublasCtrsv_v2_64, cublasZtrsv_v2_64>(
        handle, CUBLAS_FILL_MODE_LOWER, to_cublas(op), CUBLAS_DIAG_UNIT, m, numbers(l), ldl, numbers(x), 1);
  return solve(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_UNIT, m, n, l, ldl, x, ldx);
}

/// Solves X = X L^-T, L unit lower triangular, n x n, X m x n. Returns a cublasStatus_t.
template <class T>
int solve_unit_lower_right(cublasContext* handle, index_t m, index_t n, const T* l, index_t ldl, T* x, index_t ldx) {
  return solve(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, Op::transpose, CUBLAS_DIAG_UNIT, m, n, l, ldl, x,
               ldx);
}

/// Transposes: B = op(A), A^T or A^H, B m x n. Returns a cublasStatus_t.
template <class T>
int transpose(cublasContext* handle, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb,
              Op op = Op::transpose) {
  const T one = 1, zero = 0;
  // With beta = 0 the second matrix is not read, and B itself may be passed for it.
  return by_type<T, cublasSgeam_64, cublasDgeam_64, cublasCgeam_64, cublasZgeam_64>(
      handle, to_cublas(op), CUBLAS_OP_N, m, n, numbers(&one), numbers(a), lda, numbers(&zero), numbers(b), ldb,
      numbers(b), ldb);
}

}  // namespace tesela::cublas
