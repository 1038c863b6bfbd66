#pragma once

#include <tesela/runtime/types.hpp>

struct CUstream_st;

namespace tesela::kernels {

/// C := A + B, three rows x cols matrices in device memory, ROW-major: element (i, j) of A is a[i * lda + j]. (A
/// column-major matrix is the same memory with rows and columns exchanged.) C may be A or B.
template <class T>
struct SumProblem {
  index_t rows = 0, cols = 0;
  const T* a = nullptr;
  index_t lda = 1;
  const T* b = nullptr;
  index_t ldb = 1;
  T* c = nullptr;
  index_t ldc = 1;
};

// The same sum under three distributions of the elements over threads; what differs is how a warp meets memory. Each
// enqueues one kernel on the stream, for T = float and T = double, and returns the launch's cudaError_t as int.
// `block` is the number of threads of a block, 1..1024; anything else is cudaErrorInvalidValue.

/// One thread per element; consecutive threads on consecutive addresses: coalesced, and parallelism to spare.
template <class T>
int sum_by_element(CUstream_st* stream, const SumProblem<T>& problem, int block);

/// One thread per row; the threads of a warp are lda elements apart, so every access is a separate transaction.
template <class T>
int sum_by_row(CUstream_st* stream, const SumProblem<T>& problem, int block);

/// One thread per column; coalesced, but only `cols` threads to hide the latency of `rows` steps.
template <class T>
int sum_by_column(CUstream_st* stream, const SumProblem<T>& problem, int block);

}  // namespace tesela::kernels
