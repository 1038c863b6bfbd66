#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <complex>
#include <cstddef>

extern "C" {
#define TESELA_LAPACK_GENERALIZED(t, T, or_un)                                                                      \
  void t##ggglm_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, T*, T*, T*, const int*,    \
                 int*);                                                                                             \
  void t##ggqrf_(const int*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, T*, const int*, int*); \
  void t##or_un##mrq_(const char*, const char*, const int*, const int*, const int*, const T*, const int*, const T*, \
                      T*, const int*, T*, const int*, int*, std::size_t, std::size_t);
TESELA_LAPACK_GENERALIZED(s, float, or)
TESELA_LAPACK_GENERALIZED(d, double, or)
TESELA_LAPACK_GENERALIZED(c, std::complex<float>, un)
TESELA_LAPACK_GENERALIZED(z, std::complex<double>, un)
}

namespace tesela::lapack {

template <class T>
int ggglm(index_t m, index_t n, index_t p, T* a, index_t lda, T* b, index_t ldb, T* d, T* x, T* u) {
  const int rows = narrow("ggglm", m), cols = narrow("ggglm", n), factor = narrow("ggglm", p),
            ld = narrow("ggglm", lda), ld_b = narrow("ggglm", ldb);
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, sggglm_, dggglm_, cggglm_, zggglm_>(&rows, &cols, &factor, a, &ld, b, &ld_b, d, x, u, work, &lwork,
                                                   &info);
  });
  return info;
}

template <class T>
void ggqrf(index_t m, index_t n, index_t p, T* a, index_t lda, T* tau_a, T* b, index_t ldb, T* tau_b) {
  const int rows = narrow("ggqrf", m), cols = narrow("ggqrf", n), factor = narrow("ggqrf", p),
            ld = narrow("ggqrf", lda), ld_b = narrow("ggqrf", ldb);
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    by_type<T, sggqrf_, dggqrf_, cggqrf_, zggqrf_>(&rows, &cols, &factor, a, &ld, tau_a, b, &ld_b, tau_b, work, &lwork,
                                                   &info);
  });
}

template <class T>
void ormrq(Op op, index_t m, index_t n, index_t k, const T* a, index_t lda, const T* tau, T* c, index_t ldc) {
  const int rows = narrow("ormrq", m), cols = narrow("ormrq", n), vectors = narrow("ormrq", k),
            ld = narrow("ormrq", lda), ld_c = narrow("ormrq", ldc);
  const char* const letter = op == Op::none ? "N" : is_complex<T> ? "C" : "T";
  with_workspace<T>([&](T* work, int lwork) {
    int info = 0;
    by_type<T, sormrq_, dormrq_, cunmrq_, zunmrq_>("L", letter, &rows, &cols, &vectors, a, &ld, tau, c, &ld_c, work,
                                                   &lwork, &info, 1, 1);
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(ggglm, ggqrf, ormrq)

}  // namespace tesela::lapack
