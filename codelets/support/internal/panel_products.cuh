#pragma once

#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/internal/each.cuh>

// cuBLAS's products and copies of panels for two-sided reductions. Internal to codelets/.

namespace tesela::kernels::internal {

/// Calls cuBLAS and reports failures.
template <class T>
struct Products {
  CudaContext& context;
  void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b,
            index_t ldb, T beta, T* c, index_t ldc) const {
    if (m > 0 && n > 0)
      context.check(cublas::gemm<T>(context.cublas(), op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
                    "cublas gemm");
  }
  void trmm(Side side, Op op, index_t m, index_t n, const T* r, index_t ldr, T* x, index_t ldx) const {
    if (m > 0 && n > 0) context.check(cublas::trmm<T>(context.cublas(), side, op, m, n, r, ldr, x, ldx), "cublas trmm");
  }
  /// Computes B = A^H, B m x n.
  void transpose(index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb) const {
    if (m > 0 && n > 0)
      context.check(cublas::transpose<T>(context.cublas(), m, n, a, lda, b, ldb, adjoint<T>), "cublas geam");
  }
};

/// Overwrites R with the zeros above the unit diagonal of V, and with this diagonal.
template <class T>
struct UnitLower {
  T* v;
  index_t ld;
  __device__ void operator()(index_t i, index_t j) const {
    if (i <= j) v[i + j * ld] = T(i == j ? 1 : 0);
  }
};

/// Copies a matrix, or adds it if `add`.
template <class T, bool add>
struct Gather {
  const T* from;
  index_t ld_from;
  T* to;
  index_t ld_to;
  __device__ void operator()(index_t i, index_t j) const {
    const T old = add ? to[i + j * ld_to] : T(0);
    to[i + j * ld_to] = old + from[i + j * ld_from];
  }
};

/// Copies an m x n matrix, or adds it if `add`.
template <bool add, class T>
void gather(const CudaContext& context, index_t m, index_t n, const T* from, index_t ld_from, T* to, index_t ld_to) {
  each(context, m, n, Gather<device_t<T>, add>{device_pointer(from), ld_from, device_pointer(to), ld_to});
}

}  // namespace tesela::kernels::internal
