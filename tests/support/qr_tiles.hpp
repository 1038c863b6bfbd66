#pragma once

#include <tesela/codelets/qr/tile_qr.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace tesela::test {

/// A column-major matrix with three rows of padding below.
template <class T>
struct Matrix {
  index_t m = 0, n = 0, ld = 1;
  std::vector<T> a;
  Matrix(index_t rows, index_t cols, T value = std::numeric_limits<T>::quiet_NaN())
      : m(rows), n(cols), ld(rows + 3), a(static_cast<std::size_t>(ld * std::max<index_t>(cols, 1)), value) {}
  T& operator()(index_t i, index_t j) { return a[static_cast<std::size_t>(i + j * ld)]; }
  T* at(index_t i, index_t j) { return a.data() + i + j * ld; }
  template <template <class> class B>
  B<T> as() {
    B<T> b;
    b.data = a.data();
    b.rows = m;
    b.cols = n;
    b.ld = ld;
    return b;
  }
};

using Where = std::function<bool(index_t i, index_t j)>;

/// Random numbers where `active`, NaN elsewhere and in the padding, so that a read there changes the result.
template <class T>
Matrix<T> random(index_t m, index_t n, const Where& active, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix<T> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i)
      if (active(i, j)) a(i, j) = static_cast<T>(uniform(engine));
  return a;
}

template <class T>
Matrix<T> work_for(index_t width, index_t across) {
  const Shape shape = kernels::qr_work(width, across, 0, false);
  return Matrix<T>(shape.rows, shape.cols);
}

/// Requires that all elements outside `active` and the padding have the bits of before.
template <class T>
bool untouched(Matrix<T>& before, Matrix<T>& after, const Where& active) {
  for (index_t j = 0; j < after.n; ++j)
    for (index_t i = 0; i < after.ld; ++i)
      if ((i >= after.m || !active(i, j)) && std::memcmp(before.at(i, j), after.at(i, j), sizeof(T)) != 0) return false;
  return true;
}

/// Returns max |x - y| where `active`, in units of rounding; infinite for NaN.
template <class T>
double distance(Matrix<T>& x, Matrix<T>& y, const Where& active) {
  double worst = 0;
  for (index_t j = 0; j < x.n; ++j)
    for (index_t i = 0; i < x.m; ++i)
      if (active(i, j)) {
        const double d = std::abs(static_cast<double>(x(i, j)) - static_cast<double>(y(i, j)));
        worst = d <= std::numeric_limits<double>::max() ? std::max(worst, d) : std::numeric_limits<double>::infinity();
      }
  return worst / std::numeric_limits<T>::epsilon();
}

}  // namespace tesela::test
