#include <tesela/host/by_type.hpp>
#include <tesela/host/householder_vectors.hpp>
#include <tesela/host/internal/lapack_calls.hpp>

extern "C" {
#define TESELA_LAPACK(t, T) \
  void t##orhr_col_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, int*);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
#define TESELA_LAPACK(t, T) \
  void t##unhr_col_(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, int*);
TESELA_LAPACK(c, std::complex<float>)
TESELA_LAPACK(z, std::complex<double>)
}

namespace tesela::lapack {

template <class T>
void householder_vectors(index_t m, index_t n, T* q, index_t ldq, T* tau, T* signs) {
  if (n == 0) return;
  const int rows = narrow("orhr_col", m), cols = narrow("orhr_col", n), ld = narrow("orhr_col", ldq),
            block = std::min(cols, 64);
  std::vector<T> t(static_cast<std::size_t>(block) * static_cast<std::size_t>(cols));
  int info = 0;
  by_type<T, sorhr_col_, dorhr_col_, cunhr_col_, zunhr_col_>(&rows, &cols, &block, q, &ld, t.data(), &block, signs,
                                                             &info);
  // T is cut into triangles of `block` columns, with tau on their diagonals.
  for (int j = 0; j < cols; ++j) tau[j] = t[static_cast<std::size_t>(j % block + j * block)];
}

TESELA_FUNCTIONS_FOR_NUMBERS(householder_vectors)

}  // namespace tesela::lapack
