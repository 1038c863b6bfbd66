#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <complex>

extern "C" {
#define TESELA_LAPACK(t, T) \
  void t##gglse_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, T*, T*, T*, const int*, int*);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
TESELA_LAPACK(c, std::complex<float>)
TESELA_LAPACK(z, std::complex<double>)
}

namespace tesela::lapack {

template <class T>
int gglse(index_t m, index_t n, index_t p, T* a, index_t lda, T* b, index_t ldb, T* c, T* d, T* x) {
  const int rows = narrow("gglse", m), cols = narrow("gglse", n), constraints = narrow("gglse", p),
            ld = narrow("gglse", lda), ld_b = narrow("gglse", ldb);
  int info = 0;
  with_workspace<T>([&](T* work, int lwork) {
    by_type<T, sgglse_, dgglse_, cgglse_, zgglse_>(&rows, &cols, &constraints, a, &ld, b, &ld_b, c, d, x, work, &lwork,
                                                   &info);
  });
  return info;
}

TESELA_FUNCTIONS_FOR_NUMBERS(gglse)

}  // namespace tesela::lapack
