#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>

extern "C" {
#define TESELA_LAPACK(t, T)                                                                                        \
  void t##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*,      \
                 const int*, int*, int*, std::size_t);                                                             \
  void t##bdsdc_(const char*, const char*, const int*, T*, T*, T*, const int*, T*, const int*, T*, int*, T*, int*, \
                 int*, std::size_t, std::size_t);                                                                  \
  void t##lasq1_(const int*, T*, T*, T*, int*);                                                                    \
  void t##lasd0_(const int*, const int*, T*, T*, T*, const int*, T*, const int*, const int*, int*, T*, int*);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
#define TESELA_LAPACK(t, T)                                                                                           \
  void t##gesdd_(const char*, const int*, const int*, std::complex<T>*, const int*, T*, std::complex<T>*, const int*, \
                 std::complex<T>*, const int*, std::complex<T>*, const int*, T*, int*, int*, std::size_t);
TESELA_LAPACK(c, float)
TESELA_LAPACK(z, double)
}

namespace tesela::lapack {
namespace {

/// Throws if a workspace of `squares` k^2 numbers exceeds LAPACK's 32-bit integers.
void require_workspace(const char* routine, index_t squares, index_t k) {
  static_cast<void>(narrow(routine, k));
  if (squares * k * k > std::numeric_limits<int>::max())
    throw ArgumentError(std::string("lapack::") + routine, "n",
                        std::to_string(k) + ": with vectors its workspace exceeds LAPACK's 32 bits");
}

}  // namespace

template <class T>
int gesdd(SingularVectors vectors, index_t m, index_t n, T* a, index_t lda, real_t<T>* s, T* u, index_t ldu, T* vt,
          index_t ldvt) {
  if (m == 0 || n == 0) return 0;
  if (vectors != SingularVectors::none) require_workspace("gesdd", 5, std::min(m, n));
  const char* const job = vectors == SingularVectors::none ? "N" : vectors == SingularVectors::all ? "A" : "S";
  const int rows = narrow("gesdd", m), cols = narrow("gesdd", n), ld = narrow("gesdd", lda),
            ld_u = narrow("gesdd", ldu), ld_vt = narrow("gesdd", ldvt);
  const index_t k = std::min(m, n);
  std::vector<int> integers(static_cast<std::size_t>(8 * k));
  // The size that LAPACK 3.12 documents for rwork; the one for vectors is the larger of two.
  const index_t of_vectors = std::max(5 * k * k + 5 * k, 2 * std::max(m, n) * k + 2 * k * k + k);
  std::vector<real_t<T>> reals(
      static_cast<std::size_t>(is_complex<T> ? (vectors == SingularVectors::none ? 7 * k : of_vectors) : 0));
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    if constexpr (is_complex<T>)
      by_type<T, nullptr, nullptr, cgesdd_, zgesdd_>(job, &rows, &cols, a, &ld, s, u, &ld_u, vt, &ld_vt, work, &lwork,
                                                     reals.data(), integers.data(), &info, 1);
    else
      by_type<T, sgesdd_, dgesdd_>(job, &rows, &cols, a, &ld, s, u, &ld_u, vt, &ld_vt, work, &lwork, integers.data(),
                                   &info, 1);
  });
  return info;
}

template <class T>
int bdsdc(index_t n, T* d, T* e, T* u, index_t ldu, T* vt, index_t ldvt) {
  if (n == 0) return 0;
  require_workspace("bdsdc", 4, n);
  const int order = narrow("bdsdc", n), ld_u = narrow("bdsdc", ldu), ld_vt = narrow("bdsdc", ldvt);
  std::vector<T> work(static_cast<std::size_t>(3 * n * n + 4 * n));
  std::vector<int> integers(static_cast<std::size_t>(8 * n));
  T no_q = 0;
  int no_iq = 0, info = 0;
  by_type<T, sbdsdc_, dbdsdc_>("U", "I", &order, d, e, u, &ld_u, vt, &ld_vt, &no_q, &no_iq, work.data(),
                               integers.data(), &info, 1, 1);
  return info;
}

template <class T>
int lasq1(index_t n, T* d, T* e) {
  if (n == 0) return 0;
  const int order = narrow("lasq1", n);
  std::vector<T> work(static_cast<std::size_t>(4 * n));
  int info = 0;
  by_type<T, slasq1_, dlasq1_>(&order, d, e, work.data(), &info);
  return info;
}

template <class T>
int lasd0(bool extra, index_t n, T* d, T* e, T* u, index_t ldu, T* vt, index_t ldvt) {
  if (n == 0) return 0;
  const index_t columns = extra ? n + 1 : n;
  // A merge of zeros divides by their size; QR steps accept them.
  const bool zeros = std::find(d, d + n, T(0)) != d + n || std::find(e, e + columns - 1, T(0)) != e + columns - 1;
  const int order = narrow("lasd0", n), more = extra ? 1 : 0, ld_u = narrow("lasd0", ldu),
            ld_vt = narrow("lasd0", ldvt), smallest = zeros ? std::max(order, 25) : 25;
  std::vector<T> work(static_cast<std::size_t>(3 * columns * columns + 2 * columns));
  std::vector<int> integers(static_cast<std::size_t>(8 * n));
  int info = 0;
  by_type<T, slasd0_, dlasd0_>(&order, &more, d, e, u, &ld_u, vt, &ld_vt, &smallest, integers.data(), work.data(),
                               &info);
  return info;
}

TESELA_FUNCTIONS_FOR_REALS(bdsdc, lasq1, lasd0)
TESELA_FUNCTIONS_FOR_NUMBERS(gesdd)

}  // namespace tesela::lapack
