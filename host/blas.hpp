#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::blas {

/// Threads that one BLAS call uses while this lives. StarPU owns the cores, so graphs run with one; LAPACK for a whole
/// problem, a peer or a reference outside a graph may take more. It holds for the whole process: of several the largest
/// count, and tasks of other threads' graphs share BLAS's threads meanwhile.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int count_;
};

/// This machine's cores, one at least.
int all_cores();

/// Threads for calls on matrices of order n: one below 400, where several wait for each other longer than they compute,
/// and by far where StarPU's workers poll on the same cores.
int threads_for(index_t n, int cores = all_cores());

/// C = alpha op(A) op(B) + beta C in column-major memory; C is m x n, k the inner size (BLAS gemm).
template <class T>
void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, index_t ldb,
          T beta, T* c, index_t ldc);

/// y = alpha op(A) x + beta y, A m x n (BLAS gemv).
template <class T>
void gemv(Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, T beta, T* y);

/// C = alpha A B + beta C with A symmetric, m x m, of which the lower triangle is read; C is m x n (BLAS symm).
template <class T>
void symm(index_t m, index_t n, T alpha, const T* a, index_t lda, const T* b, index_t ldb, T beta, T* c, index_t ldc);

/// C = alpha (A B^T + B A^T) + C, the lower triangle; A and B are n x k (BLAS syr2k).
template <class T>
void syr2k(index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, index_t ldb, T* c, index_t ldc);

/// C = alpha A^T A + C, the upper triangle, n x n; A is k x n (BLAS syrk).
template <class T>
void syrk(index_t n, index_t k, T alpha, const T* a, index_t lda, T* c, index_t ldc);

/// What a triangular matrix is; nothing else of its square is read.
enum class Triangle : std::uint8_t { upper, unit_lower };

/// B = alpha op(A) B (left) or B = alpha B op(A) (right), A triangular; B is m x n (BLAS trmm).
template <class T>
void trmm(Side side, Triangle triangle, Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, T* b,
          index_t ldb);

/// B = op(R)^-1 B (left), R upper triangular, B m x n (BLAS trsm).
template <class T>
void trsm(Op op, index_t m, index_t n, const T* r, index_t ldr, T* b, index_t ldb);

/// B = B R^-1, R upper triangular, n x n; B is m x n (BLAS trsm).
template <class T>
void trsm_right(index_t m, index_t n, const T* r, index_t ldr, T* b, index_t ldb);

/// B = op(L)^-1 B (left), L unit lower triangular, B m x n (BLAS trsm, trsv for one column).
template <class T>
void solve_unit_lower(Op op, index_t m, index_t n, const T* l, index_t ldl, T* b, index_t ldb);

/// B = B L^-T, L unit lower triangular, n x n; B is m x n (BLAS trsm).
template <class T>
void solve_unit_lower_right(index_t m, index_t n, const T* l, index_t ldl, T* b, index_t ldb);

/// ||x||_2 of contiguous elements, without overflow (BLAS nrm2).
template <class T>
T nrm2(index_t n, const T* x);

/// The BLAS that is linked, as it describes itself.
const char* description();

}  // namespace tesela::blas
