#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack.hpp>

#include <cstddef>

extern "C" {
void spotrf_(const char*, const int*, float*, const int*, int*, std::size_t);
void dpotrf_(const char*, const int*, double*, const int*, int*, std::size_t);
void spstrf_(const char*, const int*, float*, const int*, int*, int*, const float*, float*, int*, std::size_t);
void dpstrf_(const char*, const int*, double*, const int*, int*, int*, const double*, double*, int*, std::size_t);
void ssygvd_(const int*, const char*, const char*, const int*, float*, const int*, float*, const int*, float*, float*,
             const int*, int*, const int*, int*, std::size_t, std::size_t);
void dsygvd_(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*, double*,
             double*, const int*, int*, const int*, int*, std::size_t, std::size_t);
}

namespace tesela::lapack {

template <class T>
int potrf(index_t n, T* a, index_t lda) {
  if (n == 0) return 0;
  const int size = narrow("potrf", n), ld = narrow("potrf", lda);
  int info = 0;
  if constexpr (std::is_same_v<T, float>)
    spotrf_("U", &size, a, &ld, &info, 1);
  else
    dpotrf_("U", &size, a, &ld, &info, 1);
  return info;
}

template <class T>
int sygvd(int kind, index_t n, T* a, index_t lda, T* b, index_t ldb, T* w, bool vectors) {
  if (n == 0) return 0;
  const int size = narrow("sygvd", n), ld = narrow("sygvd", lda), ld_b = narrow("sygvd", ldb);
  if (vectors) require_workspace("sygvd", n);
  return with_workspaces<T>([&](T* work, int lwork, int* iwork, int liwork) {
    int info = 0;
    const char* const job = vectors ? "V" : "N";
    if constexpr (std::is_same_v<T, float>)
      ssygvd_(&kind, job, "U", &size, a, &ld, b, &ld_b, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    else
      dsygvd_(&kind, job, "U", &size, a, &ld, b, &ld_b, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    return info;
  });
}

template <class T>
index_t pstrf(index_t n, T* a, index_t lda, std::vector<index_t>& pivots, T tolerance) {
  const int size = narrow("pstrf", n), ld = narrow("pstrf", lda);
  std::vector<int> places(static_cast<std::size_t>(n));
  std::vector<T> work(static_cast<std::size_t>(2 * n));
  int rank = 0, info = 0;
  if (n > 0) {
    if constexpr (std::is_same_v<T, float>)
      spstrf_("U", &size, a, &ld, places.data(), &rank, &tolerance, work.data(), &info, 1);
    else
      dpstrf_("U", &size, a, &ld, places.data(), &rank, &tolerance, work.data(), &info, 1);
  }
  pivots.clear();
  for (const int place : places) pivots.push_back(place - 1);
  return rank;
}

template index_t pstrf(index_t, float*, index_t, std::vector<index_t>&, float);
template index_t pstrf(index_t, double*, index_t, std::vector<index_t>&, double);
template int potrf(index_t, float*, index_t);
template int potrf(index_t, double*, index_t);
template int sygvd(int, index_t, float*, index_t, float*, index_t, float*, bool);
template int sygvd(int, index_t, double*, index_t, double*, index_t, double*, bool);

}  // namespace tesela::lapack
