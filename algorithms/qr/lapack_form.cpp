#include <tesela/algorithms/qr/lapack_form.hpp>
#include <tesela/host/householder_vectors.hpp>

#include <algorithm>
#include <vector>

namespace tesela {

template <class T>
void to_lapack_form(index_t m, index_t n, T* a, index_t lda, HostMatrix<T>& q, T* tau) {
  const index_t k = std::min(m, n);
  std::vector<T> signs(static_cast<std::size_t>(k));
  lapack::householder_vectors(m, k, q.data(), q.ld(), tau, signs.data());
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < std::min(j + 1, k); ++i) a[i + j * lda] *= signs[static_cast<std::size_t>(i)];
    for (index_t i = j + 1; j < k && i < m; ++i) a[i + j * lda] = q(i, j);
  }
}

template void to_lapack_form(index_t, index_t, float*, index_t, HostMatrix<float>&, float*);
template void to_lapack_form(index_t, index_t, double*, index_t, HostMatrix<double>&, double*);

}  // namespace tesela
