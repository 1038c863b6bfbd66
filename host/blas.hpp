#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

// T is float, double, std::complex<float> or std::complex<double>.

namespace tesela::blas {

/// Sets the threads of each BLAS call during its lifetime. StarPU owns the cores, so graphs run with one thread; LAPACK
/// for a whole problem, a peer or a reference outside a graph may use more. It holds for the whole process: the largest
/// of several counts applies, and tasks of other threads' graphs share BLAS's threads during this time.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int count_;
};

/// Returns the number of cores for BLAS, at least one: the cores of this process without the cores that drive GPUs. A
/// thread that shared a core with a driver would slow all others down.
int all_cores();

/// Returns the threads for calls on matrices of order n: one below 400, where several threads wait for each other
/// longer than they compute, by far if StarPU's workers poll on the same cores.
int threads_for(index_t n, int cores = all_cores());

/// Computes C = alpha op(A) op(B) + beta C in column-major memory; C is m x n, k the inner size (BLAS gemm).
template <class T>
void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, index_t ldb,
          T beta, T* c, index_t ldc);

/// Computes y = alpha op(A) x + beta y, A m x n (BLAS gemv).
template <class T>
void gemv(Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, T beta, T* y);

/// Computes C = alpha A B + beta C with a symmetric or Hermitian m x m A and an m x n C. Reads the lower triangle of A
/// alone (BLAS symm, hemm).
template <class T>
void symm(index_t m, index_t n, T alpha, const T* a, index_t lda, const T* b, index_t ldb, T beta, T* c, index_t ldc);

/// Computes the lower triangle of C = alpha (A B^H + B A^H) + C; A and B are n x k (BLAS syr2k, her2k).
template <class T>
void syr2k(index_t n, index_t k, real_t<T> alpha, const T* a, index_t lda, const T* b, index_t ldb, T* c, index_t ldc);

/// Computes the upper triangle of C = alpha A^H A + C, n x n; A is k x n (BLAS herk, syrk for real numbers).
template <class T>
void herk(index_t n, index_t k, real_t<T> alpha, const T* a, index_t lda, T* c, index_t ldc);

/// Kind of a triangular matrix: upper, or unit_lower with ones on the diagonal; the rest of its square is not read.
enum class Triangle : std::uint8_t { upper, unit_lower };

/// Computes B = alpha op(A) B (left) or B = alpha B op(A) (right), A triangular; B is m x n (BLAS trmm).
template <class T>
void trmm(Side side, Triangle triangle, Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, T* b,
          index_t ldb);

/// Returns whether a diagonal element is subnormal, its larger part if it is complex. BLAS multiplies by its
/// reciprocal, which may overflow.
template <class T>
bool must_divide(index_t n, const T* r, index_t ldr);

/// Solves B = op(R)^-1 B (left), R upper triangular, B m x n (BLAS trsm, or divisions if must_divide).
template <class T>
void trsm(Op op, index_t m, index_t n, const T* r, index_t ldr, T* b, index_t ldb);

/// Solves B = B R^-1, R upper triangular, n x n; B is m x n (BLAS trsm, or divisions if must_divide).
template <class T>
void trsm_right(index_t m, index_t n, const T* r, index_t ldr, T* b, index_t ldb);

/// Solves B = op(L)^-1 B (left), L unit lower triangular, B m x n (BLAS trsm, or trsv for one column).
template <class T>
void solve_unit_lower(Op op, index_t m, index_t n, const T* l, index_t ldl, T* b, index_t ldb);

/// Solves B = B L^-H, L unit lower triangular, n x n; B is m x n (BLAS trsm).
template <class T>
void solve_unit_lower_right(index_t m, index_t n, const T* l, index_t ldl, T* b, index_t ldb);

/// Returns ||x||_2 of contiguous elements, without overflow (BLAS nrm2).
template <class T>
real_t<T> nrm2(index_t n, const T* x);

/// Returns the linked BLAS library's description of itself.
const char* description();

}  // namespace tesela::blas
