#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack_band.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>

extern "C" {
#define TESELA_LAPACK(t, T, R, More)                                                                                  \
  void t##gbtrf_(const int*, const int*, const int*, const int*, T*, const int*, int*, int*);                         \
  void t##gbtrs_(const char*, const int*, const int*, const int*, const int*, const T*, const int*, const int*, T*,   \
                 const int*, int*, std::size_t);                                                                      \
  void t##gbcon_(const char*, const int*, const int*, const int*, const T*, const int*, const int*, const R*, R*, T*, \
                 More*, int*, std::size_t);                                                                           \
  void t##pbtrf_(const char*, const int*, const int*, T*, const int*, int*, std::size_t);                             \
  void t##pbtrs_(const char*, const int*, const int*, const int*, const T*, const int*, T*, const int*, int*,         \
                 std::size_t);                                                                                        \
  void t##pbcon_(const char*, const int*, const int*, const T*, const int*, const R*, R*, T*, More*, int*, std::size_t);
TESELA_LAPACK(s, float, float, int)
TESELA_LAPACK(d, double, double, int)
TESELA_LAPACK(c, std::complex<float>, float, float)
TESELA_LAPACK(z, std::complex<double>, double, double)
}

namespace tesela::lapack {
namespace {

/// Sizes of a band matrix in LAPACK's integers.
struct BandSizes {
  int n, kl, ku, ld;
  BandSizes(const char* routine, index_t order, index_t below, index_t above, index_t leading)
      : n(narrow(routine, order)),
        kl(narrow(routine, below)),
        ku(narrow(routine, above)),
        ld(narrow(routine, leading)) {}
};

template <class T>
struct ConditionWork {
  std::vector<T> numbers;
  std::vector<std::conditional_t<is_complex<T>, real_t<T>, int>> more;  // integers for a real A
  explicit ConditionWork(index_t n) : numbers(static_cast<std::size_t>(3 * n)), more(static_cast<std::size_t>(n)) {}
};

}  // namespace

template <class T>
int gbtrf(index_t n, index_t kl, index_t ku, T* ab, index_t ldab, int* swaps) {
  if (n == 0) return 0;
  const BandSizes s("gbtrf", n, kl, ku, ldab);
  int info = 0;
  by_type<T, sgbtrf_, dgbtrf_, cgbtrf_, zgbtrf_>(&s.n, &s.n, &s.kl, &s.ku, ab, &s.ld, swaps, &info);
  return info;
}

template <class T>
void gbtrs(Op op, index_t n, index_t kl, index_t ku, index_t r, const T* ab, index_t ldab, const int* swaps, T* b,
           index_t ldb) {
  if (n == 0 || r == 0) return;
  const BandSizes s("gbtrs", n, kl, ku, ldab);
  const int columns = narrow("gbtrs", r), ld_b = narrow("gbtrs", ldb);
  const char* const trans = op == Op::none ? "N" : op == Op::transpose ? "T" : "C";
  int info = 0;
  by_type<T, sgbtrs_, dgbtrs_, cgbtrs_, zgbtrs_>(trans, &s.n, &s.kl, &s.ku, &columns, ab, &s.ld, swaps, b, &ld_b, &info,
                                                 1);
}

template <class T>
double gbcon(index_t n, index_t kl, index_t ku, const T* ab, index_t ldab, const int* swaps, real_t<T> norm) {
  if (n == 0) return 1;
  const BandSizes s("gbcon", n, kl, ku, ldab);
  ConditionWork<T> work(n);
  real_t<T> reciprocal = 0;
  int info = 0;
  by_type<T, sgbcon_, dgbcon_, cgbcon_, zgbcon_>("1", &s.n, &s.kl, &s.ku, ab, &s.ld, swaps, &norm, &reciprocal,
                                                 work.numbers.data(), work.more.data(), &info, 1);
  return static_cast<double>(reciprocal);
}

template <class T>
int pbtrf(index_t n, index_t kd, T* ab, index_t ldab) {
  if (n == 0) return 0;
  const BandSizes s("pbtrf", n, 0, kd, ldab);
  int info = 0;
  by_type<T, spbtrf_, dpbtrf_, cpbtrf_, zpbtrf_>("U", &s.n, &s.ku, ab, &s.ld, &info, 1);
  return info;
}

template <class T>
void pbtrs(index_t n, index_t kd, index_t r, const T* ab, index_t ldab, T* b, index_t ldb) {
  if (n == 0 || r == 0) return;
  const BandSizes s("pbtrs", n, 0, kd, ldab);
  const int columns = narrow("pbtrs", r), ld_b = narrow("pbtrs", ldb);
  int info = 0;
  by_type<T, spbtrs_, dpbtrs_, cpbtrs_, zpbtrs_>("U", &s.n, &s.ku, &columns, ab, &s.ld, b, &ld_b, &info, 1);
}

template <class T>
double pbcon(index_t n, index_t kd, const T* ab, index_t ldab, real_t<T> norm) {
  if (n == 0) return 1;
  const BandSizes s("pbcon", n, 0, kd, ldab);
  ConditionWork<T> work(n);
  real_t<T> reciprocal = 0;
  int info = 0;
  by_type<T, spbcon_, dpbcon_, cpbcon_, zpbcon_>("U", &s.n, &s.ku, ab, &s.ld, &norm, &reciprocal, work.numbers.data(),
                                                 work.more.data(), &info, 1);
  return static_cast<double>(reciprocal);
}

TESELA_FUNCTIONS_FOR_NUMBERS(gbtrf, gbtrs, gbcon, pbtrf, pbtrs, pbcon)

}  // namespace tesela::lapack
