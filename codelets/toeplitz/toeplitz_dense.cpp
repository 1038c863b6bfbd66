#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tesela::kernels {

template <class T>
void toeplitz_half(index_t n, const T* t, int part, T* a, index_t lda) {
  const index_t half = n / 2, rows = cauchy_rows(n, part);
  for (index_t j = 0; j < half; ++j)
    for (index_t i = 0; i < half; ++i) {
      const T mirrored = t[n - 1 - i - j];
      a[i + j * lda] = t[std::abs(i - j)] + (part == 0 ? mirrored : -mirrored);
    }
  if (rows == half) return;
  for (index_t i = 0; i < half; ++i) a[i + half * lda] = a[half + i * lda] = std::sqrt(T(2)) * t[half - i];
  a[half + half * lda] = t[0];
}

namespace {

/// The vector of the whole matrix that a half's is.
template <class T>
void unfold(index_t n, int part, const T* half, T* x) {
  const T scale = 1 / std::sqrt(T(2));
  for (index_t i = 0; i < n / 2; ++i) {
    x[i] = scale * half[i];
    x[n - 1 - i] = part == 0 ? x[i] : -x[i];
  }
  if (n % 2 == 1) x[n / 2] = part == 0 ? half[n / 2] : T(0);
}

}  // namespace

template <class T>
void ToeplitzDense<T>::cpu(const Args&, In<T> t, Out<T> vectors, Out<double> values) {
  const index_t n = t.rows;
  std::vector<double> found(static_cast<std::size_t>(n)), residuals(found);
  std::vector<T> unordered(static_cast<std::size_t>(n * n));
  for (int part = 0; part < 2; ++part) {
    const index_t rows = cauchy_rows(n, part), first = part * cauchy_rows(n, 0);
    std::vector<T> a(static_cast<std::size_t>(rows * rows)), z, w(static_cast<std::size_t>(rows));
    toeplitz_half(n, t.data, part, a.data(), rows);
    z = a;
    const bool good = lapack::syevd(rows, z.data(), rows, w.data()) == 0;
    for (index_t j = 0; j < rows; ++j) {
      const T* const v = &z[static_cast<std::size_t>(j * rows)];
      double squares = 0;
      for (index_t i = 0; i < rows; ++i) {
        const T* const row = &a[static_cast<std::size_t>(i * rows)];  // of a symmetric matrix
        const double r =
            static_cast<double>(std::inner_product(row, row + rows, v, T(0)) - w[static_cast<std::size_t>(j)] * v[i]);
        squares += r * r;
      }
      const auto at = static_cast<std::size_t>(first + j);
      found[at] = good ? static_cast<double>(w[static_cast<std::size_t>(j)]) : std::numeric_limits<double>::quiet_NaN();
      residuals[at] = good ? std::sqrt(squares) : found[at];
      unfold(n, part, v, &unordered[at * static_cast<std::size_t>(n)]);
    }
  }
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) {
    return found[static_cast<std::size_t>(a)] < found[static_cast<std::size_t>(b)];
  });
  for (index_t j = 0; j < n; ++j) {
    const auto from = static_cast<std::size_t>(order[static_cast<std::size_t>(j)]);
    values(j, 0) = found[from];
    values(j, 1) = residuals[from];
    values(j, 2) = order[static_cast<std::size_t>(j)] < cauchy_rows(n, 0) ? 1 : -1;
    std::copy_n(&unordered[from * static_cast<std::size_t>(n)], n, &vectors(0, j));
  }
}

template void toeplitz_half(index_t, const float*, int, float*, index_t);
template void toeplitz_half(index_t, const double*, int, double*, index_t);
template struct ToeplitzDense<float>;
template struct ToeplitzDense<double>;

}  // namespace tesela::kernels
