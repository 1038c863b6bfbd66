#include <tesela/codelets/tridiagonal/elimination.hpp>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void Thomas<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Out<int> info) {
  const index_t n = b.rows;
  T* const upper = work.data;  // of the factor with a unit diagonal
  const auto fail = [&](index_t i) { *info.data = row_status((i + 1) * args.stride); };
  for (index_t i = 0; i < n; ++i) {
    const T below = i > 0 ? dl.data[i] : T(0);
    const T pivot = i > 0 ? d.data[i] - below * upper[i - 1] : d.data[i];
    if (pivot == T(0) || !is_finite(pivot)) return fail(i);
    upper[i] = i + 1 < n ? du.data[i] / pivot : T(0);
    for (index_t j = 0; j < b.cols; ++j) b(i, j) = (i > 0 ? b(i, j) - below * b(i - 1, j) : b(i, j)) / pivot;
  }
  for (index_t i = n - 1; i >= 0; --i)
    for (index_t j = 0; j < b.cols; ++j) {
      if (i + 1 < n) b(i, j) -= upper[i] * b(i + 1, j);
      if (!is_finite(b(i, j))) return fail(i);
    }
  *info.data = 0;
}

template <class T>
void Gtsv<T>::cpu(const Args&, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Out<int> info) {
  const index_t n = b.rows;
  T *const below = work.data, *const diagonal = below + work.ld, *const above = diagonal + work.ld;
  std::copy(dl.data + 1, dl.data + n, below);
  std::copy_n(d.data, n, diagonal);
  std::copy_n(du.data, n - 1, above);
  *info.data = lapack::gtsv(n, b.cols, below, diagonal, above, b.data, b.ld);
  for (index_t i = 0; i < n && *info.data == 0; ++i) {
    bool finite = is_finite(diagonal[i]);  // an infinite pivot gives zeros, which look like a solution
    for (index_t j = 0; j < b.cols; ++j) finite = finite && is_finite(b(i, j));
    if (!finite) *info.data = row_status(i + 1);
  }
}

TESELA_STRUCTS_FOR_NUMBERS(Thomas, Gtsv)

}  // namespace tesela::kernels
