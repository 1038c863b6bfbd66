#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <cstddef>

extern "C" {
#define TESELA_LAPACK(t, T, q)                                                                                         \
  void t##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                                    \
  void t##q##gqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);                 \
  void t##q##mqr_(const char*, const char*, const int*, const int*, const int*, const T*, const int*, const T*, T*,    \
                  const int*, T*, const int*, int*, std::size_t, std::size_t);                                         \
  void t##gels_(const char*, const int*, const int*, const int*, T*, const int*, T*, const int*, T*, const int*, int*, \
                std::size_t);                                                                                          \
  void t##posv_(const char*, const int*, const int*, T*, const int*, T*, const int*, int*, std::size_t);               \
  void t##gesv_(const int*, const int*, T*, const int*, int*, T*, const int*, int*);                                   \
  void t##gtsv_(const int*, const int*, T*, T*, T*, T*, const int*, int*);                                             \
  void t##tzrzf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                                    \
  void t##q##mrz_(const char*, const char*, const int*, const int*, const int*, const int*, const T*, const int*,      \
                  const T*, T*, const int*, T*, const int*, int*, std::size_t, std::size_t);
TESELA_LAPACK(s, float, or)
TESELA_LAPACK(d, double, or)
TESELA_LAPACK(c, std::complex<float>, un)
TESELA_LAPACK(z, std::complex<double>, un)
#undef TESELA_LAPACK
#define TESELA_LAPACK(t, T)                                                                                            \
  void t##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, \
                 T*, const int*, int*, std::size_t, std::size_t);                                                      \
  void t##gelsd_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, const T*, int*, T*,           \
                 const int*, int*, int*);                                                                              \
  void t##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, int*,     \
                 std::size_t, std::size_t);                                                                            \
  void t##sytrd_(const char*, const int*, T*, const int*, T*, T*, T*, T*, const int*, int*, std::size_t);              \
  void t##ormtr_(const char*, const char*, const char*, const int*, const int*, const T*, const int*, const T*, T*,    \
                 const int*, T*, const int*, int*, std::size_t, std::size_t, std::size_t);                             \
  void t##stedc_(const char*, const int*, T*, T*, T*, const int*, T*, const int*, int*, const int*, int*,              \
                 std::size_t);                                                                                         \
  void t##trcon_(const char*, const char*, const char*, const int*, const T*, const int*, T*, T*, int*, int*,          \
                 std::size_t, std::size_t, std::size_t);                                                               \
  void t##geqp3_(const int*, const int*, T*, const int*, int*, T*, T*, const int*, int*);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
#define TESELA_LAPACK(t, T, R)                                                                                         \
  void t##trcon_(const char*, const char*, const char*, const int*, const T*, const int*, R*, T*, R*, int*,            \
                 std::size_t, std::size_t, std::size_t);                                                               \
  void t##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, const int*, \
                 T*, const int*, R*, int*, std::size_t, std::size_t);                                                  \
  void t##gelsd_(const int*, const int*, const int*, T*, const int*, T*, const int*, R*, const R*, int*, T*,           \
                 const int*, R*, int*, int*);                                                                          \
  void t##geqp3_(const int*, const int*, T*, const int*, int*, T*, T*, const int*, R*, int*);                          \
  void t##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, const int*, int*,       \
                 const int*, int*, std::size_t, std::size_t);                                                          \
  void t##hetrd_(const char*, const int*, T*, const int*, R*, R*, T*, T*, const int*, int*, std::size_t);
TESELA_LAPACK(c, std::complex<float>, float)
TESELA_LAPACK(z, std::complex<double>, double)
void dsterf_(const int*, double*, double*, int*);
void dstemr_(const char*, const char*, const int*, double*, double*, const double*, const double*, const int*,
             const int*, int*, double*, double*, const int*, const int*, int*, int*, double*, const int*, int*,
             const int*, int*, std::size_t, std::size_t);
}

namespace tesela::lapack {

template <class T>
void geqrf(index_t m, index_t n, T* a, index_t lda, T* tau) {
  if (m == 0 || n == 0) return;
  const int rows = narrow("geqrf", m), cols = narrow("geqrf", n), ld = narrow("geqrf", lda);
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    by_type<T, sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_>(&rows, &cols, a, &ld, tau, work, &lwork, &info);
  });
}

template <class T>
void ormqr(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  const char* trans = op == Op::none ? "N" : is_complex<T> ? "C" : "T";
  const int rows = narrow("ormqr", m), cols = narrow("ormqr", n), vectors = narrow("ormqr", k),
            ld = narrow("ormqr", lda), ld_c = narrow("ormqr", ldc);
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    by_type<T, sormqr_, dormqr_, cunmqr_, zunmqr_>("L", trans, &rows, &cols, &vectors, a, &ld, tau, c, &ld_c, work,
                                                   &lwork, &info, 1, 1);
  });
}

template <class T>
void orgqr(index_t m, index_t k, T* a, index_t lda, const T* tau) {
  if (m == 0 || k == 0) return;
  const int rows = narrow("orgqr", m), vectors = narrow("orgqr", k), ld = narrow("orgqr", lda);
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    by_type<T, sorgqr_, dorgqr_, cungqr_, zungqr_>(&rows, &vectors, &vectors, a, &ld, tau, work, &lwork, &info);
  });
}

template <class T>
std::vector<real_t<T>> gesvd(index_t m, index_t n, T* a, index_t lda) {
  std::vector<real_t<T>> s(static_cast<std::size_t>(std::min(m, n)));
  if (s.empty()) return s;
  const int rows = narrow("gesvd", m), cols = narrow("gesvd", n), ld = narrow("gesvd", lda), one = 1;
  int info = 0;
  std::vector<real_t<T>> more(is_complex<T> ? 5 * s.size() : 0);
  with_workspace<T>([&](T* work, int lwork) {
    constexpr auto compute = by_type<T, sgesvd_, dgesvd_, cgesvd_, zgesvd_>;
    const auto with = [&](auto... rest) {
      compute("N", "N", &rows, &cols, a, &ld, s.data(), nullptr, &one, nullptr, &one, work, &lwork, rest...);
    };
    if constexpr (is_complex<T>)
      with(more.data(), &info, std::size_t{1}, std::size_t{1});
    else
      with(&info, std::size_t{1}, std::size_t{1});
  });
  if (info != 0) throw EnvironmentError("lapack::gesvd: no convergence");
  return s;
}

template <class T>
int gels(index_t m, index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb) {
  const int rows = narrow("gels", m), cols = narrow("gels", n), rhs = narrow("gels", r), ld = narrow("gels", lda),
            ld_b = narrow("gels", ldb);
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, sgels_, dgels_, cgels_, zgels_>("N", &rows, &cols, &rhs, a, &ld, b, &ld_b, work, &lwork, &info, 1);
  });
  return info;
}

template <class T>
Gelsd<T> gelsd(index_t m, index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb, double rcond) {
  Gelsd<T> result;
  result.singular_values.resize(static_cast<std::size_t>(std::min(m, n)));
  const int rows = narrow("gelsd", m), cols = narrow("gelsd", n), rhs = narrow("gelsd", r), ld = narrow("gelsd", lda),
            ld_b = narrow("gelsd", ldb);
  const auto cut = static_cast<real_t<T>>(rcond);
  int rank = 0, integers = 0;
  real_t<T> numbers = 0;
  std::vector<int> iwork(1);
  std::vector<real_t<T>> more(1);
  with_workspace<T>([&](T* work, int lwork) {
    int* const space = lwork < 0 ? &integers : iwork.data();
    constexpr auto compute = by_type<T, sgelsd_, dgelsd_, cgelsd_, zgelsd_>;
    const auto with = [&](auto... rest) {
      compute(&rows, &cols, &rhs, a, &ld, b, &ld_b, result.singular_values.data(), &cut, &rank, work, &lwork, rest...,
              space, &result.info);
    };
    if constexpr (is_complex<T>)
      with(lwork < 0 ? &numbers : more.data());
    else
      with();
    iwork.resize(static_cast<std::size_t>(std::max(integers, 1)));
    more.resize(static_cast<std::size_t>(numbers) + 1);
  });
  result.rank = rank;
  return result;
}

template <class T>
int posv(index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb) {
  const int size = narrow("posv", n), rhs = narrow("posv", r), ld = narrow("posv", lda), ld_b = narrow("posv", ldb);
  int info = 0;
  by_type<T, sposv_, dposv_, cposv_, zposv_>("L", &size, &rhs, a, &ld, b, &ld_b, &info, 1);
  return info;
}

template <class T>
int gesv(index_t n, index_t r, T* a, index_t lda, T* b, index_t ldb) {
  const int size = narrow("gesv", n), rhs = narrow("gesv", r), ld = narrow("gesv", lda), ld_b = narrow("gesv", ldb);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0;
  by_type<T, sgesv_, dgesv_, cgesv_, zgesv_>(&size, &rhs, a, &ld, pivots.data(), b, &ld_b, &info);
  return info;
}

template <class T>
int gtsv(index_t n, index_t r, T* dl, T* d, T* du, T* b, index_t ldb) {
  const int size = narrow("gtsv", n), rhs = narrow("gtsv", r), ld = narrow("gtsv", ldb);
  int info = 0;
  by_type<T, sgtsv_, dgtsv_, cgtsv_, zgtsv_>(&size, &rhs, dl, d, du, b, &ld, &info);
  return info;
}

int stemr(index_t n, double* d, double* e, double* z, index_t ldz) {
  if (n == 0) return 0;
  const int size = narrow("stemr", n), ld = narrow("stemr", ldz), work = 18 * size, iwork = 10 * size, ignored = 0;
  const double unused = 0;
  int found = 0, info = 0, try_accurate = 1;
  std::vector<double> values(static_cast<std::size_t>(n)), works(static_cast<std::size_t>(work));
  std::vector<int> support(2 * static_cast<std::size_t>(n)), iworks(static_cast<std::size_t>(iwork));
  dstemr_("V", "A", &size, d, e, &unused, &unused, &ignored, &ignored, &found, values.data(), z, &ld, &size,
          support.data(), &try_accurate, works.data(), &work, iworks.data(), &iwork, &info, 1, 1);
  std::copy(values.begin(), values.end(), d);
  return info;
}

template <class T>
int syevd(index_t n, T* a, index_t lda, real_t<T>* w, bool vectors) {
  if (n == 0) return 0;
  const int size = narrow("syevd", n), ld = narrow("syevd", lda);
  if (vectors) require_workspace("syevd", n);
  [[maybe_unused]] real_t<T> numbers = 0;  // of complex numbers' real workspace
  std::vector<real_t<T>> more;
  return with_workspaces<T>([&](T* work, int lwork, int* iwork, int liwork) {
    int info = 0;
    const char* const job = vectors ? "V" : "N";
    if constexpr (is_complex<T>) {
      real_t<T>* const space = lwork < 0 ? &numbers : more.data();
      const int count = lwork < 0 ? -1 : static_cast<int>(more.size());
      by_type<T, nullptr, nullptr, cheevd_, zheevd_>(job, "U", &size, a, &ld, w, work, &lwork, space, &count, iwork,
                                                     &liwork, &info, 1, 1);
      more.resize(static_cast<std::size_t>(numbers + numbers / 1024) + 1);
    } else {
      by_type<T, ssyevd_, dsyevd_>(job, "U", &size, a, &ld, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    }
    return info;
  });
}

template <class T>
int stedc(index_t n, T* d, T* e, T* z, index_t ldz) {
  if (n == 0) return 0;
  const int size = narrow("stedc", n), ld = narrow("stedc", ldz);
  return with_workspaces<T>([&](T* work, int lwork, int* iwork, int liwork) {
    int info = 0;
    by_type<T, sstedc_, dstedc_>("I", &size, d, e, z, &ld, work, &lwork, iwork, &liwork, &info, 1);
    return info;
  });
}

template <class T>
void sytrd(index_t n, T* a, index_t lda, real_t<T>* d, real_t<T>* e, T* tau) {
  if (n == 0) return;
  const int size = narrow("sytrd", n), ld = narrow("sytrd", lda);
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, ssytrd_, dsytrd_, chetrd_, zhetrd_>("L", &size, a, &ld, d, e, tau, work, &lwork, &info, 1);
  });
}

template <class T>
void ormtr(Op op, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc) {
  if (n == 0 || k == 0) return;
  const int rows = narrow("ormtr", n), cols = narrow("ormtr", k), ld = narrow("ormtr", lda),
            ld_c = narrow("ormtr", ldc);
  const char* const trans = op == Op::transpose ? "T" : "N";
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, sormtr_, dormtr_>("L", "L", trans, &rows, &cols, a, &ld, tau, c, &ld_c, work, &lwork, &info, 1, 1, 1);
  });
}

int sterf(index_t n, double* d, double* e) {
  if (n == 0) return 0;
  const int size = narrow("sterf", n);
  int info = 0;
  dsterf_(&size, d, e, &info);
  return info;
}

template <class T>
double trcon(index_t n, const T* r, index_t ldr) {
  if (n == 0) return 1;
  const int size = narrow("trcon", n), ld = narrow("trcon", ldr);
  std::vector<T> work(3 * static_cast<std::size_t>(n));
  // Integers for a real R, real numbers for a complex one.
  std::vector<std::conditional_t<is_complex<T>, real_t<T>, int>> more(static_cast<std::size_t>(n));
  real_t<T> rcond = 0;
  int info = 0;
  by_type<T, strcon_, dtrcon_, ctrcon_, ztrcon_>("1", "U", "N", &size, r, &ld, &rcond, work.data(), more.data(), &info,
                                                 1, 1, 1);
  return static_cast<double>(rcond);
}

template <class T>
void geqp3(index_t m, index_t n, T* a, index_t lda, std::vector<index_t>& pivots, T* tau) {
  const int rows = narrow("geqp3", m), cols = narrow("geqp3", n), ld = narrow("geqp3", lda);
  std::vector<int> jpvt(static_cast<std::size_t>(n), 0);  // 0: not fixed
  int info = 0;
  std::vector<real_t<T>> more(is_complex<T> ? 2 * static_cast<std::size_t>(n) : 0);
  with_workspace<T>([&](T* work, int lwork) {
    constexpr auto factor = by_type<T, sgeqp3_, dgeqp3_, cgeqp3_, zgeqp3_>;
    if constexpr (is_complex<T>)
      factor(&rows, &cols, a, &ld, jpvt.data(), tau, work, &lwork, more.data(), &info);
    else
      factor(&rows, &cols, a, &ld, jpvt.data(), tau, work, &lwork, &info);
  });
  pivots.clear();
  for (const int j : jpvt) pivots.push_back(j - 1);
}

template <class T>
void tzrzf(index_t m, index_t n, T* a, index_t lda, T* tau) {
  const int rows = narrow("tzrzf", m), cols = narrow("tzrzf", n), ld = narrow("tzrzf", lda);
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, stzrzf_, dtzrzf_, ctzrzf_, ztzrzf_>(&rows, &cols, a, &ld, tau, work, &lwork, &info);
  });
}

template <class T>
void ormrz(index_t m, index_t n, index_t r, const T* a, index_t lda, const T* tau, T* c, index_t ldc) {
  if (m == 0 || n == 0 || r == 0) return;
  const int vectors = narrow("ormrz", m), rows = narrow("ormrz", n), cols = narrow("ormrz", r),
            rest = narrow("ormrz", n - m), ld = narrow("ormrz", lda), ld_c = narrow("ormrz", ldc);
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, sormrz_, dormrz_, cunmrz_, zunmrz_>("L", is_complex<T> ? "C" : "T", &rows, &cols, &vectors, &rest, a,
                                                   &ld, tau, c, &ld_c, work, &lwork, &info, 1, 1);
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(geqrf, ormqr, orgqr, gels, trcon, gesvd)
TESELA_FUNCTIONS_FOR_NUMBERS(gelsd, posv, gesv, gtsv, syevd, sytrd)
TESELA_FUNCTIONS_FOR_NUMBERS(geqp3, tzrzf, ormrz)

TESELA_FUNCTIONS_FOR_REALS(stedc, ormtr)

}  // namespace tesela::lapack
