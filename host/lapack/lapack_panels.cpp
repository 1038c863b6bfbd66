#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack/lapack.hpp>

extern "C" {
#define TESELA_LAPACK(t, T)                                                                                       \
  void t##geqrt2_(const int*, const int*, std::complex<T>*, const int*, std::complex<T>*, const int*, int*);      \
  void t##tpqrt2_(const int*, const int*, const int*, std::complex<T>*, const int*, std::complex<T>*, const int*, \
                  std::complex<T>*, const int*, int*);
TESELA_LAPACK(c, float)
TESELA_LAPACK(z, double)
}

namespace tesela::lapack {

template <class T>
void geqrt2(index_t m, index_t n, T* a, index_t lda, T* t, index_t ldt) {
  const int rows = narrow("geqrt2", m), cols = narrow("geqrt2", n), ld = narrow("geqrt2", lda),
            ld_t = narrow("geqrt2", ldt);
  int info = 0;
  by_type<T, nullptr, nullptr, cgeqrt2_, zgeqrt2_>(&rows, &cols, a, &ld, t, &ld_t, &info);
}

template <class T>
void tpqrt2(index_t m, index_t n, index_t l, T* r, index_t ldr, T* b, index_t ldb, T* t, index_t ldt) {
  const int rows = narrow("tpqrt2", m), cols = narrow("tpqrt2", n), trapezoid = narrow("tpqrt2", l),
            ld = narrow("tpqrt2", ldr), ld_b = narrow("tpqrt2", ldb), ld_t = narrow("tpqrt2", ldt);
  int info = 0;
  by_type<T, nullptr, nullptr, ctpqrt2_, ztpqrt2_>(&rows, &cols, &trapezoid, r, &ld, b, &ld_b, t, &ld_t, &info);
}

#define TESELA_INSTANTIATE(T)                                       \
  template void geqrt2(index_t, index_t, T*, index_t, T*, index_t); \
  template void tpqrt2(index_t, index_t, index_t, T*, index_t, T*, index_t, T*, index_t);
TESELA_FOR_COMPLEX(TESELA_INSTANTIATE)

}  // namespace tesela::lapack
