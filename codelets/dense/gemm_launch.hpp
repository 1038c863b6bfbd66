#pragma once

#include <tesela/runtime/types.hpp>

struct CUstream_st;

namespace tesela::kernels {

/// A product C := alpha op(A) op(B) + beta C, all column-major in device memory: C is m x n with leading dimension ldc,
/// op(A) is m x k, op(B) is k x n (so A is k x m if op_a is transpose). m, n and k may be 0.
///
/// As in BLAS, C is written and never read if beta == 0 (NaN in it vanishes). A and B are never read and may be null if
/// alpha == 0 or k == 0.
template <class T>
struct GemmProblem {
  Op op_a = Op::none, op_b = Op::none;
  index_t m = 0, n = 0, k = 0;
  T alpha = 1;
  const T* a = nullptr;  ///< A
  index_t lda = 1;       ///< leading dimension of A
  const T* b = nullptr;  ///< B
  index_t ldb = 1;       ///< leading dimension of B
  T beta = 0;
  T* c = nullptr;   ///< C
  index_t ldc = 1;  ///< leading dimension of C
};

// Each of these functions enqueues one kernel on the stream for T = float or double and returns the status of the
// launch as int (cudaError_t): 0 is success, cudaErrorInvalidValue an unsupported tile. None waits for the device. An
// empty C launches nothing.

/// Multiplies with one thread per element of C and operands read from global memory. `tile` is the edge of the thread
/// blocks, 1 to 32.
template <class T>
int gemm_naive(CUstream_st* stream, const GemmProblem<T>& problem, int tile);

/// Multiplies with one thread per element of C and operands staged through tile x tile squares of shared memory; tile
/// 16 or 32.
template <class T>
int gemm_shared(CUstream_st* stream, const GemmProblem<T>& problem, int tile);

/// Multiplies as gemm_shared with `coarsening` elements of C per thread, `tile` apart along the contiguous dimension.
///
/// tile       16 or 32; gemm_coarse_fits(sizeof(T), tile, coarsening) must hold.
/// coarsening 1, 2, 4 or 8: uses of a staged element of the other operand per read.
template <class T>
int gemm_coarse(CUstream_st* stream, const GemmProblem<T>& problem, int tile, int coarsening = 2);

/// Returns whether the staged squares fit into the 48 KiB of shared memory that every block has.
constexpr bool gemm_coarse_fits(int bytes, int tile, int coarsening) {
  return (coarsening + 1) * tile * (tile + 1) * bytes <= 49152;
}

/// Multiplies with tensor cores, register tiles and asynchronous multi-stage copies: our fastest kernel.
///
/// Needs compute capability 8.0; an older device, or one with too little shared memory, runs gemm_coarse with tile 32.
/// It is as accurate as a plain product in T; gemm_tuned_f32.cu explains it for float, with its limits.
template <class T>
int gemm_tuned(CUstream_st* stream, const GemmProblem<T>& problem);

/// Returned by gemm_bulk() if it does not apply; it has enqueued nothing then.
inline constexpr int gemm_bulk_declines = -1;

/// Multiplies doubles on compute capability 9.0 with copies by the hardware, which extra warps of each block request.
/// Declines on other devices, if an operand is not aligned to 16 bytes or has an odd leading dimension, and if C has
/// fewer tiles than `least_tiles` (0: the number of blocks that a device runs at once).
int gemm_bulk(CUstream_st* stream, const GemmProblem<double>& problem, index_t least_tiles = 0);

}  // namespace tesela::kernels
