#pragma once

#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/support/internal/vector_of.hpp>

#include <cmath>

// Who takes an iteration's steps: a team of threads, in groups that are parts of a warp, or one core alone. The steps
// are written once for both. A team has
//   rank, size       this thread, and how many there are
//   group, groups    its group, and how many there are
//   lane, lanes      its place in the group
//   narrow()         the same threads in smaller groups
//   sync()           a barrier of all; together() one of the group
//   sum              over the lanes of a group; dot, axpy, scale of contiguous vectors, each by a group
//   product          C = A B by all, with barriers around it
// Internal to codelets/.

#ifdef __CUDACC__
#define TESELA_STEP __device__ inline
#define TESELA_UNROLL _Pragma("unroll")
#else
#define TESELA_STEP inline __attribute__((always_inline))
#define TESELA_UNROLL _Pragma("GCC unroll 4")
#endif

namespace tesela::kernels::iterations {

#ifndef __CUDACC__
/// One core. Reductions run in several lanes.
template <class T>
struct LoneTeam {
  static constexpr bool alone = true;
  static constexpr index_t rank = 0, size = 1, group = 0, groups = 1, lane = 0, lanes = 1;

  TESELA_STEP void sync() const {}
  TESELA_STEP void together() const {}
  TESELA_STEP const LoneTeam& narrow() const { return *this; }
  TESELA_STEP T sum(T value) const { return value; }

  TESELA_STEP T dot(index_t n, const T* x, const T* y) const {
    using V = VectorOf<T>;
    typename V::type sum{}, a, b;
    index_t i = 0;
    for (; i + V::lanes <= n; i += V::lanes) {
      load(a, x + i);
      load(b, y + i);
      sum += a * b;
    }
    T all = 0;
    for (int l = 0; l < V::lanes; ++l) all += sum[l];
    for (; i < n; ++i) all += x[i] * y[i];
    return all;
  }
  TESELA_STEP void axpy(index_t n, T alpha, const T* __restrict x, T* __restrict y) const {
    for (index_t i = 0; i < n; ++i) y[i] += alpha * x[i];
  }
  TESELA_STEP void scale(index_t n, T alpha, T* x) const {
    for (index_t i = 0; i < n; ++i) x[i] *= alpha;
  }
  TESELA_STEP void product(index_t m, index_t n, index_t k, const T* a, index_t lda, const T* b, index_t ldb, T* c,
                           index_t ldc) const {
    blas::gemm(Op::none, Op::none, m, n, k, T(1), a, lda, b, ldb, T(0), c, ldc);
  }
};
#endif

}  // namespace tesela::kernels::iterations
