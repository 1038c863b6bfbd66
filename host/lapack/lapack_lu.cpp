#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/lapack/lapack_complex_lu.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>

extern "C" {
#define TESELA_LAPACK(t, T)                                           \
  void t##getrf_(const int*, const int*, T*, const int*, int*, int*); \
  void t##gecon_(const char*, const int*, const T*, const int*, const T*, T*, T*, int*, int*, std::size_t);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
#define TESELA_LAPACK(t, T, R)                                        \
  void t##getrf_(const int*, const int*, T*, const int*, int*, int*); \
  void t##gecon_(const char*, const int*, const T*, const int*, const R*, R*, T*, R*, int*, std::size_t);
TESELA_LAPACK(c, std::complex<float>, float)
TESELA_LAPACK(z, std::complex<double>, double)
#define TESELA_GETRS(t, T)                                                                                    \
  void t##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*, \
                 std::size_t);
TESELA_GETRS(d, double)
TESELA_GETRS(z, std::complex<double>)
}

namespace tesela::lapack {

template <class T>
int getrf(index_t m, index_t n, T* a, index_t lda, int* swaps) {
  if (m == 0 || n == 0) return 0;
  const int rows = narrow("getrf", m), columns = narrow("getrf", n), ld = narrow("getrf", lda);
  int info = 0;
  by_type<T, sgetrf_, dgetrf_, cgetrf_, zgetrf_>(&rows, &columns, a, &ld, swaps, &info);
  return info;
}

template <class T>
double gecon(index_t n, const T* factors, index_t lda, real_t<T> norm) {
  if (n == 0) return 1;
  const int size = narrow("gecon", n), ld = narrow("gecon", lda);
  std::vector<T> work(static_cast<std::size_t>(4 * n));
  std::vector<std::conditional_t<is_complex<T>, real_t<T>, int>> more(static_cast<std::size_t>(2 * n));
  real_t<T> reciprocal = 0;
  int info = 0;
  by_type<T, sgecon_, dgecon_, cgecon_, zgecon_>("1", &size, factors, &ld, &norm, &reciprocal, work.data(), more.data(),
                                                 &info, 1);
  return static_cast<double>(reciprocal);
}

namespace {

template <class T>
void solve(index_t n, index_t r, const T* factors, index_t lda, const int* swaps, T* b, index_t ldb) {
  const int order = narrow("getrs", n), columns = narrow("getrs", r), ld = narrow("getrs", lda),
            ld_b = narrow("getrs", ldb);
  int info = 0;
  if constexpr (is_complex<T>)
    zgetrs_("N", &order, &columns, factors, &ld, swaps, b, &ld_b, &info, 1);
  else
    dgetrs_("N", &order, &columns, factors, &ld, swaps, b, &ld_b, &info, 1);
}

}  // namespace

void getrs(index_t n, index_t r, const double* factors, index_t lda, const int* swaps, double* b, index_t ldb) {
  solve(n, r, factors, lda, swaps, b, ldb);
}
void getrs(index_t n, index_t r, const std::complex<double>* factors, index_t lda, const int* swaps,
           std::complex<double>* b, index_t ldb) {
  solve(n, r, factors, lda, swaps, b, ldb);
}

TESELA_FUNCTIONS_FOR_NUMBERS(gecon, getrf)

}  // namespace tesela::lapack
