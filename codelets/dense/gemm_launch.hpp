#pragma once

#include <tesela/runtime/types.hpp>

struct CUstream_st;

namespace tesela::kernels {

/// C := alpha op(A) op(B) + beta C, all column-major in device memory: C is m x n with leading dimension ldc, op(A) is
/// m x k, op(B) is k x n (so A itself is k x m when op_a is transpose). m, n and k may be 0.
///
/// BLAS contract: with beta == 0, C is written and never read (NaN in it vanishes); with alpha == 0 or k == 0, A and B
/// are never read and may be null.
template <class T>
struct GemmProblem {
  Op op_a = Op::none, op_b = Op::none;
  index_t m = 0, n = 0, k = 0;
  T alpha = 1;
  const T* a = nullptr;
  index_t lda = 1;
  const T* b = nullptr;
  index_t ldb = 1;
  T beta = 0;
  T* c = nullptr;
  index_t ldc = 1;
};

// Every function below enqueues one kernel on the stream for T = float and T = double, and returns the status of the
// launch, a cudaError_t as int: 0 is success, an unsupported tile is cudaErrorInvalidValue. Nothing waits for the
// device. An empty C launches nothing.

/// xGEMM, one thread per element of C, operands straight from global memory; blocks of tile x tile threads, 1..32.
template <class T>
int gemm_naive(CUstream_st* stream, const GemmProblem<T>& problem, int tile);

/// xGEMM, one thread per element of C, operands staged through tile x tile squares of shared memory; tile 16 or 32.
template <class T>
int gemm_shared(CUstream_st* stream, const GemmProblem<T>& problem, int tile);

/// xGEMM as gemm_shared, with `coarsening` elements of C per thread, `tile` apart along the contiguous dimension, so
/// that each staged element of the other operand is used so often per read; tile 16 or 32, coarsening 1, 2, 4 or 8,
/// gemm_coarse_fits(sizeof(T), tile, coarsening).
template <class T>
int gemm_coarse(CUstream_st* stream, const GemmProblem<T>& problem, int tile, int coarsening = 2);

/// Whether its squares are at most the 48 KiB of shared memory that every block has.
constexpr bool gemm_coarse_fits(int bytes, int tile, int coarsening) {
  return (coarsening + 1) * tile * (tile + 1) * bytes <= 49152;
}

/// xGEMM, the fastest we have: tensor cores, register tiles, asynchronous multi-stage copies. Needs compute capability
/// 8.0; an older device, or one with too little shared memory, runs gemm_coarse with tile 32. Accuracy is that of a
/// plain product in T; gemm_tuned_f32.cu states how float gets there on tensor cores, and its limits.
template <class T>
int gemm_tuned(CUstream_st* stream, const GemmProblem<T>& problem);

}  // namespace tesela::kernels
