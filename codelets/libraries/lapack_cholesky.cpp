#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/runtime/errors.hpp>

#include <cstddef>
#include <limits>
#include <string>

extern "C" {
void spotrf_(const char*, const int*, float*, const int*, int*, std::size_t);
void dpotrf_(const char*, const int*, double*, const int*, int*, std::size_t);
void ssygvd_(const int*, const char*, const char*, const int*, float*, const int*, float*, const int*, float*, float*,
             const int*, int*, const int*, int*, std::size_t, std::size_t);
void dsygvd_(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*, double*,
             double*, const int*, int*, const int*, int*, std::size_t, std::size_t);
}

namespace tesela::lapack {
namespace {

int narrow(const char* routine, index_t n) {
  if (n > std::numeric_limits<int>::max())
    throw ArgumentError(std::string("lapack::") + routine, "size", std::to_string(n) + " exceeds LAPACK's integers");
  return static_cast<int>(n);
}

}  // namespace

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
  const auto call = [&](T* work, int lwork, int* iwork, int liwork) {
    int info = 0;
    const char* const job = vectors ? "V" : "N";
    if constexpr (std::is_same_v<T, float>)
      ssygvd_(&kind, job, "U", &size, a, &ld, b, &ld_b, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    else
      dsygvd_(&kind, job, "U", &size, a, &ld, b, &ld_b, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    return info;
  };
  T work_size = 0;
  int iwork_size = 0;
  if (const int info = call(&work_size, -1, &iwork_size, -1); info != 0) return info;
  // In single precision the size may have been rounded down.
  const auto works = static_cast<int>(std::min(2147483647.0, 1.0001 * static_cast<double>(work_size) + 64));
  std::vector<T> work(static_cast<std::size_t>(works));
  std::vector<int> iwork(static_cast<std::size_t>(iwork_size));
  return call(work.data(), works, iwork.data(), iwork_size);
}

template int potrf(index_t, float*, index_t);
template int potrf(index_t, double*, index_t);
template int sygvd(int, index_t, float*, index_t, float*, index_t, float*, bool);
template int sygvd(int, index_t, double*, index_t, double*, index_t, double*, bool);

}  // namespace tesela::lapack
