#include <tesela/codelets/qr/internal/eliminate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#define HWY_TARGET_INCLUDE "tesela/codelets/qr/internal/eliminate.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

/// Computes a += t x (unless x is null), then dots = a^T y, for `columns` neighbouring columns a. If y is null, y is
/// the first column.
template <class T, int columns>
HWY_INLINE void update_and_dot(T* a, index_t rows, const T* x, const T* t, const T* y, T* dots) {
  constexpr Tag<T> tag;
  Vec<T> total[columns], factors[columns];
  for (int c = 0; c < columns; ++c) total[c] = zeros<T>(), factors[c] = x != nullptr ? all(t[c]) : zeros<T>();
  for (index_t i = 0; i < rows; i += lanes<T>) {
    for (int c = 0; c < columns; ++c) {
      T* const at = a + c * rows + i;
      Vec<T> v = hn::Load(tag, at);
      if (x != nullptr) {
        v = hn::MulAdd(factors[c], hn::Load(tag, x + i), v);
        hn::Store(v, tag, at);
      }
      total[c] = hn::MulAdd(v, y != nullptr ? hn::Load(tag, y + i) : v, total[c]);
    }
  }
  for (int c = 0; c < columns; ++c) dots[c] = sum<T>(total[c]);
}

/// Computes the same for any number of columns; the first is the column of the next reflector.
template <class T>
HWY_INLINE void sweep(T* a, index_t rows, index_t columns, const T* x, const T* t, T* dots) {
  update_and_dot<T, 1>(a, rows, x, t, nullptr, dots);
  index_t c = 1;
  for (; c + 4 <= columns; c += 4) update_and_dot<T, 4>(a + c * rows, rows, x, t + c, a, dots + c);
  for (; c < columns; ++c) update_and_dot<T, 1>(a + c * rows, rows, x, t + c, a, dots + c);
}

template <class T>
void eliminate_columns(T* r, T* a, index_t rows, index_t n) {
  std::array<T, eliminate_cols> s, t;
  if (n > 0) sweep<T>(a, rows, n, nullptr, t.data(), s.data());
  for (index_t j = 0; j < n; ++j) {
    // H = I - v v^T / (norm (norm + |r|)) with v = [r + sign(r) norm; x] and norm = ||[r; x]||: H [r; x] = [-sign(r)
    // norm; 0]. s holds x^T [x, columns to the right].
    const T pivot = r[j + j * n];
    T head = 0, factor = 0;
    if (!(s[0] < std::numeric_limits<T>::min())) {  // NaN propagates
      const T norm = std::sqrt(pivot * pivot + s[0]);
      head = pivot + std::copysign(norm, pivot);
      factor = -1 / (norm * (norm + std::abs(pivot)));
      r[j + j * n] = -std::copysign(norm, pivot);
    }
    const index_t right = n - j - 1;
    for (index_t c = 0; c < right; ++c) {
      T& above = r[j + (j + 1 + c) * n];
      t[static_cast<std::size_t>(c)] = (head * above + s[static_cast<std::size_t>(c + 1)]) * factor;
      above += head * t[static_cast<std::size_t>(c)];
    }
    if (right > 0) sweep<T>(a + (j + 1) * rows, rows, right, a + j * rows, t.data(), s.data());
  }
}

template <class T>
T copy_column(const T* x, index_t rows, index_t padded, T scale, T* to) {
  const Vec<T> factor = all(scale);
  Vec<T> largest = zeros<T>();
  index_t i = 0;
  for (; i + lanes<T> <= rows; i += lanes<T>) {
    const Vec<T> v = load(x + i), size = hn::Abs(v);
    store(to + i, hn::Mul(v, factor));
    largest = hn::IfThenElse(hn::Gt(size, largest), size, largest);  // NaN is not larger
  }
  T most = hn::GetLane(hn::MaxOfLanes(Tag<T>(), largest));
  for (; i < rows; ++i) {
    to[i] = x[i] * scale;
    if (std::abs(x[i]) > most) most = std::abs(x[i]);
  }
  for (; i < padded; ++i) to[i] = 0;
  return most;
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {

void eliminate(float* r, float* a, index_t rows, index_t n) {
  TESELA_BEST_TARGET(eliminate_columns<float>)(r, a, rows, n);
}
void eliminate(double* r, double* a, index_t rows, index_t n) {
  TESELA_BEST_TARGET(eliminate_columns<double>)(r, a, rows, n);
}
float copy_and_max(const float* x, index_t rows, index_t padded, float scale, float* to) {
  return TESELA_BEST_TARGET(copy_column<float>)(x, rows, padded, scale, to);
}
double copy_and_max(const double* x, index_t rows, index_t padded, double scale, double* to) {
  return TESELA_BEST_TARGET(copy_column<double>)(x, rows, padded, scale, to);
}

}  // namespace tesela::kernels
#endif
