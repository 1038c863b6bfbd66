#include <tesela/codelets/tridiagonal/gtsv.hpp>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {

template <class T>
void Gtsv<T>::cpu(const Args&, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Out<int> info) {
  const index_t n = b.rows;
  T *const below = work.data, *const diagonal = below + work.ld, *const above = diagonal + work.ld;
  std::copy(dl.data + 1, dl.data + n, below);
  std::copy_n(d.data, n, diagonal);
  std::copy_n(du.data, n - 1, above);
  *info.data = lapack::gtsv(n, b.cols, below, diagonal, above, b.data, b.ld);
  for (index_t i = 0; i < n && *info.data == 0; ++i) {
    bool finite = std::isfinite(diagonal[i]);  // an infinite pivot gives zeros, which look like a solution
    for (index_t j = 0; j < b.cols; ++j) finite = finite && std::isfinite(b(i, j));
    if (!finite) *info.data = row_status(i + 1);
  }
}

template struct Gtsv<float>;
template struct Gtsv<double>;

}  // namespace tesela::kernels
