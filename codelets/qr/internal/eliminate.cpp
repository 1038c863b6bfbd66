#include <tesela/codelets/qr/internal/eliminate.hpp>
#include <tesela/codelets/support/inline.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

// The loops are written once, in vectors of 64 bytes, and compiled for the instruction sets that matter; the machine
// decides which of them runs.

namespace tesela::kernels {
namespace {

template <class T>
struct Wide {
  using type [[gnu::vector_size(64), gnu::may_alias]] = T;
  static constexpr index_t lanes = 64 / static_cast<index_t>(sizeof(T));
};

template <class T>
TESELA_INLINE T sum(const typename Wide<T>::type& v) {
  T total = 0;
  for (index_t l = 0; l < Wide<T>::lanes; ++l) total += v[static_cast<int>(l)];
  return total;
}

/// For `columns` neighbouring columns a: a += t x (unless x is null), then dots = a^T y. With y null it is a itself.
template <class T, int columns>
TESELA_INLINE void update_and_dot(T* a, index_t rows, const T* x, const T* t, const T* y, T* dots) {
  using V = typename Wide<T>::type;
  V total[columns] = {};
  for (index_t i = 0; i < rows; i += Wide<T>::lanes) {
    for (int c = 0; c < columns; ++c) {
      V& at = *reinterpret_cast<V*>(a + c * rows + i);
      V v = at;
      if (x != nullptr) {
        v += t[c] * *reinterpret_cast<const V*>(x + i);
        at = v;
      }
      total[c] += v * (y != nullptr ? *reinterpret_cast<const V*>(y + i) : v);
    }
  }
  for (int c = 0; c < columns; ++c) dots[c] = sum<T>(total[c]);
}

/// The same for any number of columns, the first of which is the next reflector's.
template <class T>
TESELA_INLINE void sweep(T* a, index_t rows, index_t columns, const T* x, const T* t, T* dots) {
  update_and_dot<T, 1>(a, rows, x, t, nullptr, dots);
  index_t c = 1;
  for (; c + 4 <= columns; c += 4) update_and_dot<T, 4>(a + c * rows, rows, x, t + c, a, dots + c);
  for (; c < columns; ++c) update_and_dot<T, 1>(a + c * rows, rows, x, t + c, a, dots + c);
}

template <class T>
TESELA_INLINE void eliminate_columns(T* r, T* a, index_t rows, index_t n) {
  std::array<T, eliminate_cols> s, t;
  if (n > 0) sweep<T>(a, rows, n, nullptr, t.data(), s.data());
  for (index_t j = 0; j < n; ++j) {
    // H = I - v v^T / (norm (norm + |r|)) with v = [r + sign(r) norm; x] and norm = ||[r; x]||: H [r; x] = [-sign(r)
    // norm; 0]. s holds x^T [x, columns to the right].
    const T pivot = r[j + j * n];
    T head = 0, factor = 0;
    if (!(s[0] < std::numeric_limits<T>::min())) {  // NaN goes on
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
TESELA_INLINE T copy_column(const T* x, index_t rows, index_t padded, T scale, T* to) {
  using V = typename Wide<T>::type;
  V largest{};
  index_t i = 0;
  for (; i + Wide<T>::lanes <= rows; i += Wide<T>::lanes) {
    V v;
    std::memcpy(&v, x + i, sizeof v);
    *reinterpret_cast<V*>(to + i) = v * scale;
    v = v < 0 ? -v : v;
    largest = v > largest ? v : largest;
  }
  T most = 0;
  for (index_t l = 0; l < Wide<T>::lanes; ++l) most = std::max(most, T(largest[static_cast<int>(l)]));
  for (; i < rows; ++i) {
    to[i] = x[i] * scale;
    if (std::abs(x[i]) > most) most = std::abs(x[i]);
  }
  for (; i < padded; ++i) to[i] = 0;
  return most;
}

#if defined(__x86_64__)

enum class Isa { plain, avx2, avx512 };
const Isa isa = [] {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
  return Isa::plain;
}();

template <class T>
[[gnu::target("avx512f,avx512dq,fma,prefer-vector-width=512")]] void eliminate_avx512(T* r, T* a, index_t rows,
                                                                                      index_t n) {
  eliminate_columns(r, a, rows, n);
}
template <class T>
[[gnu::target("avx2,fma")]] void eliminate_avx2(T* r, T* a, index_t rows, index_t n) {
  eliminate_columns(r, a, rows, n);
}
template <class T>
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] T copy_avx512(const T* x, index_t rows, index_t padded,
                                                                          T scale, T* to) {
  return copy_column(x, rows, padded, scale, to);
}
template <class T>
[[gnu::target("avx2")]] T copy_avx2(const T* x, index_t rows, index_t padded, T scale, T* to) {
  return copy_column(x, rows, padded, scale, to);
}

template <class T>
void eliminate_here(T* r, T* a, index_t rows, index_t n) {
  if (isa == Isa::avx512) return eliminate_avx512(r, a, rows, n);
  if (isa == Isa::avx2) return eliminate_avx2(r, a, rows, n);
  eliminate_columns(r, a, rows, n);
}
template <class T>
T copy_here(const T* x, index_t rows, index_t padded, T scale, T* to) {
  if (isa == Isa::avx512) return copy_avx512(x, rows, padded, scale, to);
  if (isa == Isa::avx2) return copy_avx2(x, rows, padded, scale, to);
  return copy_column(x, rows, padded, scale, to);
}

#else

template <class T>
void eliminate_here(T* r, T* a, index_t rows, index_t n) {
  eliminate_columns(r, a, rows, n);
}
template <class T>
T copy_here(const T* x, index_t rows, index_t padded, T scale, T* to) {
  return copy_column(x, rows, padded, scale, to);
}

#endif

}  // namespace

void eliminate(float* r, float* a, index_t rows, index_t n) { eliminate_here(r, a, rows, n); }
void eliminate(double* r, double* a, index_t rows, index_t n) { eliminate_here(r, a, rows, n); }
float copy_and_max(const float* x, index_t rows, index_t padded, float scale, float* to) {
  return copy_here(x, rows, padded, scale, to);
}
double copy_and_max(const double* x, index_t rows, index_t padded, double scale, double* to) {
  return copy_here(x, rows, padded, scale, to);
}

}  // namespace tesela::kernels
