#include <tesela/codelets/libraries/internal/lapack_calls.hpp>
#include <tesela/codelets/libraries/lapack.hpp>

extern "C" {
void sgetrf_(const int*, const int*, float*, const int*, int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
}

namespace tesela::lapack {

template <class T>
int getrf(index_t m, index_t n, T* a, index_t lda, int* swaps) {
  if (m == 0 || n == 0) return 0;
  const int rows = narrow("getrf", m), columns = narrow("getrf", n), ld = narrow("getrf", lda);
  int info = 0;
  if constexpr (std::is_same_v<T, float>)
    sgetrf_(&rows, &columns, a, &ld, swaps, &info);
  else
    dgetrf_(&rows, &columns, a, &ld, swaps, &info);
  return info;
}

template int getrf(index_t, index_t, float*, index_t, int*);
template int getrf(index_t, index_t, double*, index_t, int*);

}  // namespace tesela::lapack
