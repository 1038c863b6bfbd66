#include <tesela/host/blas.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <cblas.h>

#include <algorithm>
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

CBLAS_TRANSPOSE to_cblas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }
CBLAS_SIDE to_cblas(Side side) { return side == Side::left ? CblasLeft : CblasRight; }
CBLAS_UPLO uplo(Triangle triangle) { return triangle == Triangle::upper ? CblasUpper : CblasLower; }
CBLAS_DIAG diagonal(Triangle triangle) { return triangle == Triangle::upper ? CblasNonUnit : CblasUnit; }

blasint narrow(index_t n) {
  require(n <= std::numeric_limits<blasint>::max(), "BLAS", "size", n, " exceeds this BLAS's integers");
  return static_cast<blasint>(n);
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

int all_cores() { return static_cast<int>(tesela::all_cores()); }
int threads_for(index_t n, int cores) { return n < 400 ? 1 : cores; }

const char* description() {
  static_cast<void>(initial);
  return openblas_get_config();
}

template <>
void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, float alpha, const float* a, index_t lda, const float* b,
          index_t ldb, float beta, float* c, index_t ldc) {
  cblas_sgemm(CblasColMajor, to_cblas(op_a), to_cblas(op_b), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda), b,
              narrow(ldb), beta, c, narrow(ldc));
}

template <>
void gemm(Op op_a, Op op_b, index_t m, index_t n, index_t k, double alpha, const double* a, index_t lda,
          const double* b, index_t ldb, double beta, double* c, index_t ldc) {
  cblas_dgemm(CblasColMajor, to_cblas(op_a), to_cblas(op_b), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda), b,
              narrow(ldb), beta, c, narrow(ldc));
}

template <>
void symm(index_t m, index_t n, float alpha, const float* a, index_t lda, const float* b, index_t ldb, float beta,
          float* c, index_t ldc) {
  cblas_ssymm(CblasColMajor, CblasLeft, CblasLower, narrow(m), narrow(n), alpha, a, narrow(lda), b, narrow(ldb), beta,
              c, narrow(ldc));
}
template <>
void symm(index_t m, index_t n, double alpha, const double* a, index_t lda, const double* b, index_t ldb, double beta,
          double* c, index_t ldc) {
  cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, narrow(m), narrow(n), alpha, a, narrow(lda), b, narrow(ldb), beta,
              c, narrow(ldc));
}

template <>
void syr2k(index_t n, index_t k, float alpha, const float* a, index_t lda, const float* b, index_t ldb, float* c,
           index_t ldc) {
  cblas_ssyr2k(CblasColMajor, CblasLower, CblasNoTrans, narrow(n), narrow(k), alpha, a, narrow(lda), b, narrow(ldb), 1,
               c, narrow(ldc));
}
template <>
void syr2k(index_t n, index_t k, double alpha, const double* a, index_t lda, const double* b, index_t ldb, double* c,
           index_t ldc) {
  cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, narrow(n), narrow(k), alpha, a, narrow(lda), b, narrow(ldb), 1,
               c, narrow(ldc));
}

template <>
void gemv(Op op, index_t m, index_t n, float alpha, const float* a, index_t lda, const float* x, float beta, float* y) {
  cblas_sgemv(CblasColMajor, to_cblas(op), narrow(m), narrow(n), alpha, a, narrow(lda), x, 1, beta, y, 1);
}
template <>
void gemv(Op op, index_t m, index_t n, double alpha, const double* a, index_t lda, const double* x, double beta,
          double* y) {
  cblas_dgemv(CblasColMajor, to_cblas(op), narrow(m), narrow(n), alpha, a, narrow(lda), x, 1, beta, y, 1);
}

template <>
void trmm(Side side, Triangle triangle, Op op, index_t m, index_t n, float alpha, const float* a, index_t lda, float* b,
          index_t ldb) {
  cblas_strmm(CblasColMajor, to_cblas(side), uplo(triangle), to_cblas(op), diagonal(triangle), narrow(m), narrow(n),
              alpha, a, narrow(lda), b, narrow(ldb));
}

template <>
void trmm(Side side, Triangle triangle, Op op, index_t m, index_t n, double alpha, const double* a, index_t lda,
          double* b, index_t ldb) {
  cblas_dtrmm(CblasColMajor, to_cblas(side), uplo(triangle), to_cblas(op), diagonal(triangle), narrow(m), narrow(n),
              alpha, a, narrow(lda), b, narrow(ldb));
}

template <>
void trsm(Op op, index_t m, index_t n, const float* r, index_t ldr, float* b, index_t ldb) {
  cblas_strsm(CblasColMajor, CblasLeft, CblasUpper, to_cblas(op), CblasNonUnit, narrow(m), narrow(n), float(1), r,
              narrow(ldr), b, narrow(ldb));
}

template <>
void solve_unit_lower(Op op, index_t m, index_t n, const float* l, index_t ldl, float* b, index_t ldb) {
  if (n == 1)
    cblas_strsv(CblasColMajor, CblasLower, to_cblas(op), CblasUnit, narrow(m), l, narrow(ldl), b, 1);
  else
    cblas_strsm(CblasColMajor, CblasLeft, CblasLower, to_cblas(op), CblasUnit, narrow(m), narrow(n), float(1), l,
                narrow(ldl), b, narrow(ldb));
}

template <>
void trsm_right(index_t m, index_t n, const float* r, index_t ldr, float* b, index_t ldb) {
  cblas_strsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, narrow(m), narrow(n), 1, r,
              narrow(ldr), b, narrow(ldb));
}
template <>
void solve_unit_lower_right(index_t m, index_t n, const float* l, index_t ldl, float* b, index_t ldb) {
  cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, narrow(m), narrow(n), 1, l, narrow(ldl), b,
              narrow(ldb));
}
template <>
void trsm_right(index_t m, index_t n, const double* r, index_t ldr, double* b, index_t ldb) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, narrow(m), narrow(n), 1, r,
              narrow(ldr), b, narrow(ldb));
}
template <>
void solve_unit_lower_right(index_t m, index_t n, const double* l, index_t ldl, double* b, index_t ldb) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, narrow(m), narrow(n), 1, l, narrow(ldl), b,
              narrow(ldb));
}

template <>
float nrm2(index_t n, const float* x) {
  return cblas_snrm2(narrow(n), x, 1);
}

template <>
void trsm(Op op, index_t m, index_t n, const double* r, index_t ldr, double* b, index_t ldb) {
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, to_cblas(op), CblasNonUnit, narrow(m), narrow(n), double(1), r,
              narrow(ldr), b, narrow(ldb));
}

template <>
void solve_unit_lower(Op op, index_t m, index_t n, const double* l, index_t ldl, double* b, index_t ldb) {
  if (n == 1)
    cblas_dtrsv(CblasColMajor, CblasLower, to_cblas(op), CblasUnit, narrow(m), l, narrow(ldl), b, 1);
  else
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, to_cblas(op), CblasUnit, narrow(m), narrow(n), double(1), l,
                narrow(ldl), b, narrow(ldb));
}

template <>
double nrm2(index_t n, const double* x) {
  return cblas_dnrm2(narrow(n), x, 1);
}

template <>
void syrk(index_t n, index_t k, float alpha, const float* a, index_t lda, float* c, index_t ldc) {
  cblas_ssyrk(CblasColMajor, CblasUpper, CblasTrans, narrow(n), narrow(k), alpha, a, narrow(lda), 1, c, narrow(ldc));
}

template <>
void syrk(index_t n, index_t k, double alpha, const double* a, index_t lda, double* c, index_t ldc) {
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, narrow(n), narrow(k), alpha, a, narrow(lda), 1, c, narrow(ldc));
}

}  // namespace tesela::blas
