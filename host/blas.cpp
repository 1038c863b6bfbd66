#include <tesela/host/blas.hpp>
#include <tesela/host/by_type.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

namespace tesela::blas {
namespace {

/// StarPU's workers are the threads: BLAS starts with one thread.
const int initial = [] {
  openblas_set_num_threads(1);
  return 0;
}();

/// Counts of all living Threads objects. Several threads of the program may hold one each, and end in any order.
std::mutex thread_counts_mutex;
std::multiset<int>& wishes() {
  static auto* const all = new std::multiset<int>;  // never destroyed: a thread may end after main
  return *all;
}

CBLAS_TRANSPOSE to_cblas(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}
CBLAS_SIDE to_cblas(Side side) { return side == Side::left ? CblasLeft : CblasRight; }
CBLAS_UPLO uplo(Triangle triangle) { return triangle == Triangle::upper ? CblasUpper : CblasLower; }
CBLAS_DIAG diagonal(Triangle triangle) { return triangle == Triangle::upper ? CblasNonUnit : CblasUnit; }

blasint narrow(index_t n) {
  require(n <= std::numeric_limits<blasint>::max(), "BLAS", "size", n, " exceeds this BLAS's integers");
  return static_cast<blasint>(n);
}

/// Returns a factor as CBLAS expects it: a complex one by its address.
template <class T>
auto factor(const T& alpha) {
  if constexpr (is_complex<T>)
    return static_cast<const void*>(&alpha);
  else
    return alpha;
}

/// Solves with a triangular factor A of order m (left) or n (right): B = op(A)^-1 B or B = B op(A)^-1, B m x n.
template <class T>
void solve(CBLAS_SIDE side, CBLAS_UPLO half, CBLAS_TRANSPOSE op, CBLAS_DIAG diagonal_kind, index_t m, index_t n,
           const T* a, index_t lda, T* b, index_t ldb) {
  const T one = 1;
  by_type<T, cblas_strsm, cblas_dtrsm, cblas_ctrsm, cblas_ztrsm>(
      CblasColMajor, side, half, op, diagonal_kind, narrow(m), narrow(n), factor(one), a, narrow(lda), b, narrow(ldb));
}

/// Solves x = op(R)^-1 x by substitution with divisions, R upper triangular of order n.
template <class T>
void divide(Op op, index_t n, const T* r, index_t ldr, T* x) {
  if (op != Op::none) {
    for (index_t k = 0; k < n; ++k) {
      for (index_t i = 0; i < k; ++i) x[k] -= apply_to(op, r[i + k * ldr]) * x[i];
      x[k] /= apply_to(op, r[k + k * ldr]);
    }
    return;
  }
  for (index_t k = n; k-- > 0;) {
    x[k] /= r[k + k * ldr];
    for (index_t i = 0; i < k; ++i) x[i] -= r[i + k * ldr] * x[k];
  }
}

}  // namespace

Threads::Threads(int count) : count_(count) {
  const std::lock_guard lock(thread_counts_mutex);
  wishes().insert(count);
  openblas_set_num_threads(*wishes().rbegin());
}
Threads::~Threads() {
  const std::lock_guard lock(thread_counts_mutex);
  wishes().erase(wishes().find(count_));
  openblas_set_num_threads(wishes().empty() ? 1 : *wishes().rbegin());
}

int all_cores() { return std::max(static_cast<int>(tesela::all_cores()) - polling_cores(), 1); }
int threads_for(index_t n, int cores) { return n < 400 ? 1 : cores; }

const char* description() {
  static_cast<void>(initial);
  return openblas_get_config();
}

template <class T>
void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b, index_t ldb,
          T beta, T* c, index_t ldc) {
  by_type<T, cblas_sgemm, cblas_dgemm, cblas_cgemm, cblas_zgemm>(
      CblasColMajor, to_cblas(op_a), to_cblas(op_b), narrow(m), narrow(n), narrow(k), factor(alpha), a, narrow(lda), b,
      narrow(ldb), factor(beta), c, narrow(ldc));
}

template <class T>
void symm(index_t m, index_t n, T alpha, const T* a, index_t lda, const T* b, index_t ldb, T beta, T* c, index_t ldc) {
  by_type<T, cblas_ssymm, cblas_dsymm, cblas_chemm, cblas_zhemm>(CblasColMajor, CblasLeft, CblasLower, narrow(m),
                                                                 narrow(n), factor(alpha), a, narrow(lda), b,
                                                                 narrow(ldb), factor(beta), c, narrow(ldc));
}

template <class T>
void syr2k(index_t n, index_t k, real_t<T> alpha, const T* a, index_t lda, const T* b, index_t ldb, T* c, index_t ldc) {
  const T factor_of_both = alpha;
  by_type<T, cblas_ssyr2k, cblas_dsyr2k, cblas_cher2k, cblas_zher2k>(CblasColMajor, CblasLower, CblasNoTrans, narrow(n),
                                                                     narrow(k), factor(factor_of_both), a, narrow(lda),
                                                                     b, narrow(ldb), 1, c, narrow(ldc));
}

template <class T>
void gemv(Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, T beta, T* y) {
  by_type<T, cblas_sgemv, cblas_dgemv, cblas_cgemv, cblas_zgemv>(
      CblasColMajor, to_cblas(op), narrow(m), narrow(n), factor(alpha), a, narrow(lda), x, 1, factor(beta), y, 1);
}

template <class T>
void trmm(Side side, Triangle triangle, Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, T* b,
          index_t ldb) {
  by_type<T, cblas_strmm, cblas_dtrmm, cblas_ctrmm, cblas_ztrmm>(CblasColMajor, to_cblas(side), uplo(triangle),
                                                                 to_cblas(op), diagonal(triangle), narrow(m), narrow(n),
                                                                 factor(alpha), a, narrow(lda), b, narrow(ldb));
}

template <class T>
bool must_divide(index_t n, const T* r, index_t ldr) {
  for (index_t k = 0; k < n; ++k)
    if (std::fpclassify(largest_part(r[k + k * ldr])) == FP_SUBNORMAL) return true;
  return false;
}

template <class T>
void trsm(Op op, index_t m, index_t n, const T* r, index_t ldr, T* b, index_t ldb) {
  if (must_divide(m, r, ldr)) {
    for (index_t j = 0; j < n; ++j) divide(op, m, r, ldr, b + j * ldb);
    return;
  }
  solve<T>(CblasLeft, CblasUpper, to_cblas(op), CblasNonUnit, m, n, r, ldr, b, ldb);
}

template <class T>
void solve_unit_lower(Op op, index_t m, index_t n, const T* l, index_t ldl, T* b, index_t ldb) {
  if (n == 1)
    by_type<T, cblas_strsv, cblas_dtrsv, cblas_ctrsv, cblas_ztrsv>(CblasColMajor, CblasLower, to_cblas(op), CblasUnit,
                                                                   narrow(m), l, narrow(ldl), b, 1);
  else
    solve<T>(CblasLeft, CblasLower, to_cblas(op), CblasUnit, m, n, l, ldl, b, ldb);
}

template <class T>
void trsm_right(index_t m, index_t n, const T* r, index_t ldr, T* b, index_t ldb) {
  if (must_divide(n, r, ldr)) {
    for (index_t k = 0; k < n; ++k) {
      for (index_t l = 0; l < k; ++l)
        for (index_t i = 0; i < m; ++i) b[i + k * ldb] -= b[i + l * ldb] * r[l + k * ldr];
      for (index_t i = 0; i < m; ++i) b[i + k * ldb] /= r[k + k * ldr];
    }
    return;
  }
  solve<T>(CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, m, n, r, ldr, b, ldb);
}

template <class T>
void solve_unit_lower_right(index_t m, index_t n, const T* l, index_t ldl, T* b, index_t ldb) {
  solve<T>(CblasRight, CblasLower, to_cblas(adjoint<T>), CblasUnit, m, n, l, ldl, b, ldb);
}

template <class T>
real_t<T> nrm2(index_t n, const T* x) {
  return by_type<T, cblas_snrm2, cblas_dnrm2, cblas_scnrm2, cblas_dznrm2>(narrow(n), x, 1);
}

template <class T>
void herk(index_t n, index_t k, real_t<T> alpha, const T* a, index_t lda, T* c, index_t ldc) {
  by_type<T, cblas_ssyrk, cblas_dsyrk, cblas_cherk, cblas_zherk>(
      CblasColMajor, CblasUpper, to_cblas(adjoint<T>), narrow(n), narrow(k), alpha, a, narrow(lda), 1, c, narrow(ldc));
}

TESELA_FUNCTIONS_FOR_NUMBERS(gemm, gemv, trmm, must_divide, trsm, solve_unit_lower)
TESELA_FUNCTIONS_FOR_NUMBERS(solve_unit_lower_right, trsm_right, nrm2, herk, symm, syr2k)

}  // namespace tesela::blas
