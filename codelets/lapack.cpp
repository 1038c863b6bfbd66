#include "codelets/lapack.hpp"

#include "runtime/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

extern "C" {
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void sormqr_(const char*, const char*, const int*, const int*, const int*, const float*, const int*, const float*,
             float*, const int*, float*, const int*, int*, std::size_t, std::size_t);
void dormqr_(const char*, const char*, const int*, const int*, const int*, const double*, const int*, const double*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
void sgesvd_(const char*, const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*,
             const int*, float*, const int*, int*, std::size_t, std::size_t);
void dgesvd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
}

namespace tesela::lapack {
namespace {

int narrow(const char* routine, index_t n) {
  if (n > std::numeric_limits<int>::max())
    throw ArgumentError(std::string("lapack::") + routine, "size", std::to_string(n) + " exceeds LAPACK's integers");
  return static_cast<int>(n);
}

/// Calls f(work, lwork) twice: to ask for the size of its workspace, and with that.
template <class T, class F>
void with_workspace(F f) {
  T size = 0;
  f(&size, -1);
  // A single-precision answer may have been rounded down.
  std::vector<T> work(static_cast<std::size_t>(size + size / 1024) + 1);
  f(work.data(), static_cast<int>(std::min<std::size_t>(work.size(), std::numeric_limits<int>::max())));
}

}  // namespace

template <class T>
void geqrf(index_t m, index_t n, T* a, index_t lda, T* tau) {
  if (m == 0 || n == 0) return;
  const int rows = narrow("geqrf", m), cols = narrow("geqrf", n), ld = narrow("geqrf", lda);
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    if constexpr (std::is_same_v<T, float>)
      sgeqrf_(&rows, &cols, a, &ld, tau, work, &lwork, &info);
    else
      dgeqrf_(&rows, &cols, a, &ld, tau, work, &lwork, &info);
  });
}

template <class T>
void ormqr(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  const char* trans = op == Op::none ? "N" : "T";
  const int rows = narrow("ormqr", m), cols = narrow("ormqr", n), vectors = narrow("ormqr", k),
            ld = narrow("ormqr", lda), ld_c = narrow("ormqr", ldc);
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    if constexpr (std::is_same_v<T, float>)
      sormqr_("L", trans, &rows, &cols, &vectors, a, &ld, tau, c, &ld_c, work, &lwork, &info, 1, 1);
    else
      dormqr_("L", trans, &rows, &cols, &vectors, a, &ld, tau, c, &ld_c, work, &lwork, &info, 1, 1);
  });
}

template <class T>
std::vector<T> gesvd(index_t m, index_t n, T* a, index_t lda) {
  std::vector<T> s(static_cast<std::size_t>(std::min(m, n)));
  if (s.empty()) return s;
  const int rows = narrow("gesvd", m), cols = narrow("gesvd", n), ld = narrow("gesvd", lda), one = 1;
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    if constexpr (std::is_same_v<T, float>)
      sgesvd_("N", "N", &rows, &cols, a, &ld, s.data(), nullptr, &one, nullptr, &one, work, &lwork, &info, 1, 1);
    else
      dgesvd_("N", "N", &rows, &cols, a, &ld, s.data(), nullptr, &one, nullptr, &one, work, &lwork, &info, 1, 1);
  });
  if (info != 0) throw EnvironmentError("lapack::gesvd: no convergence");
  return s;
}

template void geqrf(index_t, index_t, float*, index_t, float*);
template void geqrf(index_t, index_t, double*, index_t, double*);
template void ormqr(Op, index_t, index_t, index_t, const float*, index_t, const float*, float*, index_t);
template void ormqr(Op, index_t, index_t, index_t, const double*, index_t, const double*, double*, index_t);
template std::vector<float> gesvd(index_t, index_t, float*, index_t);
template std::vector<double> gesvd(index_t, index_t, double*, index_t);

}  // namespace tesela::lapack
