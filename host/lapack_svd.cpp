#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack_svd.hpp>

#include <cstddef>

extern "C" {
#define TESELA_LAPACK(t, T)                                                                                   \
  void t##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*, \
                 const int*, int*, int*, std::size_t);                                                        \
  void t##lasq1_(const int*, T*, T*, T*, int*);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
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
int gesdd(SingularVectors vectors, index_t m, index_t n, T* a, index_t lda, T* s, T* u, index_t ldu, T* vt,
          index_t ldvt) {
  if (m == 0 || n == 0) return 0;
  if (vectors != SingularVectors::none) require_workspace("gesdd", 5, std::min(m, n));
  const char* const job = vectors == SingularVectors::none ? "N" : vectors == SingularVectors::all ? "A" : "S";
  const int rows = narrow("gesdd", m), cols = narrow("gesdd", n), ld = narrow("gesdd", lda),
            ld_u = narrow("gesdd", ldu), ld_vt = narrow("gesdd", ldvt);
  std::vector<int> integers(static_cast<std::size_t>(8 * std::min(m, n)));
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, sgesdd_, dgesdd_>(job, &rows, &cols, a, &ld, s, u, &ld_u, vt, &ld_vt, work, &lwork, integers.data(),
                                 &info, 1);
  });
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

#define TESELA_INSTANTIATE(T)                                                                       \
  template int gesdd(SingularVectors, index_t, index_t, T*, index_t, T*, T*, index_t, T*, index_t); \
  template int lasq1(index_t, T*, T*);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::lapack
