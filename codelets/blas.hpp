#pragma once

#include "runtime/types.hpp"

namespace tesela::blas {

/// Threads that one BLAS call uses while this lives. StarPU owns the cores, so graphs run with one; a peer or a
/// reference outside a graph may take more. Process-wide, so never change it while a graph runs.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// C = alpha op(A) op(B) + beta C in column-major memory; C is m x n, k the inner size (BLAS gemm).
template <class T>
void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, index_t ldb,
          T beta, T* c, index_t ldc);

/// The BLAS that is linked, as it describes itself.
const char* description();

}  // namespace tesela::blas
