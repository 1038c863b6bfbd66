#pragma once

// cuBLAS with one name for float and double; for CUDA variants only.

#include "runtime/cuda_context.hpp"
#include "runtime/types.hpp"

#include <cublas_v2.h>

namespace tesela::cublas {

inline cublasOperation_t to_cublas(Op op) { return op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T; }

/// C = alpha op(A) op(B) + beta C; C is m x n, k the inner size. Answers a cublasStatus_t.
template <class T>
int gemm(cublasContext* handle, Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda,
         const T* b, index_t ldb, T beta, T* c, index_t ldc) {
  const cublasOperation_t a_op = to_cublas(op_a), b_op = to_cublas(op_b);
  if constexpr (std::is_same_v<T, float>)
    return cublasSgemm_v2_64(handle, a_op, b_op, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
  else
    return cublasDgemm_v2_64(handle, a_op, b_op, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

}  // namespace tesela::cublas
