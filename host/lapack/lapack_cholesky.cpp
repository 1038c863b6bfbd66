#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <complex>
#include <cstddef>
#include <vector>

extern "C" {
#define TESELA_LAPACK(t, T)                                                                                            \
  void t##potrf_(const char*, const int*, T*, const int*, int*, std::size_t);                                          \
  void t##pstrf_(const char*, const int*, T*, const int*, int*, int*, const T*, T*, int*, std::size_t);                \
  void t##sygvd_(const int*, const char*, const char*, const int*, T*, const int*, T*, const int*, T*, T*, const int*, \
                 int*, const int*, int*, std::size_t, std::size_t);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
#define TESELA_LAPACK(t, T, R)                                                                                         \
  void t##potrf_(const char*, const int*, T*, const int*, int*, std::size_t);                                          \
  void t##pstrf_(const char*, const int*, T*, const int*, int*, int*, const R*, R*, int*, std::size_t);                \
  void t##hegvd_(const int*, const char*, const char*, const int*, T*, const int*, T*, const int*, R*, T*, const int*, \
                 R*, const int*, int*, const int*, int*, std::size_t, std::size_t);
TESELA_LAPACK(c, std::complex<float>, float)
TESELA_LAPACK(z, std::complex<double>, double)
}

namespace tesela::lapack {

template <class T>
int potrf(index_t n, T* a, index_t lda) {
  if (n == 0) return 0;
  const int size = narrow("potrf", n), ld = narrow("potrf", lda);
  int info = 0;
  by_type<T, spotrf_, dpotrf_, cpotrf_, zpotrf_>("U", &size, a, &ld, &info, 1);
  return info;
}

template <class T>
int sygvd(int kind, index_t n, T* a, index_t lda, T* b, index_t ldb, real_t<T>* w, bool vectors) {
  if (n == 0) return 0;
  const int size = narrow("sygvd", n), ld = narrow("sygvd", lda), ld_b = narrow("sygvd", ldb);
  if (vectors) require_workspace("sygvd", n);
  real_t<T> numbers = 0;
  std::vector<real_t<T>> more;  // the real workspace of complex problems
  return with_workspaces<T>([&](T* work, int lwork, int* iwork, int liwork) {
    int info = 0;
    const char* const job = vectors ? "V" : "N";
    if constexpr (is_complex<T>) {
      real_t<T>* const space = lwork < 0 ? &numbers : more.data();
      const int count = lwork < 0 ? -1 : static_cast<int>(more.size());
      by_type<T, nullptr, nullptr, chegvd_, zhegvd_>(&kind, job, "U", &size, a, &ld, b, &ld_b, w, work, &lwork, space,
                                                     &count, iwork, &liwork, &info, 1, 1);
      more.resize(static_cast<std::size_t>(numbers + numbers / 1024) + 1);
    } else {
      by_type<T, ssygvd_, dsygvd_>(&kind, job, "U", &size, a, &ld, b, &ld_b, w, work, &lwork, iwork, &liwork, &info, 1,
                                   1);
    }
    return info;
  });
}

template <class T>
index_t pstrf(index_t n, T* a, index_t lda, std::vector<index_t>& pivots, real_t<T> tolerance) {
  const int size = narrow("pstrf", n), ld = narrow("pstrf", lda);
  std::vector<int> places(static_cast<std::size_t>(n));
  std::vector<real_t<T>> work(static_cast<std::size_t>(2 * n));
  int rank = 0, info = 0;
  if (n > 0) {
    by_type<T, spstrf_, dpstrf_, cpstrf_, zpstrf_>("U", &size, a, &ld, places.data(), &rank, &tolerance, work.data(),
                                                   &info, 1);
  }
  pivots.clear();
  for (const int place : places) pivots.push_back(place - 1);
  return rank;
}

TESELA_FUNCTIONS_FOR_NUMBERS(pstrf, potrf, sygvd)

}  // namespace tesela::lapack
