#pragma once

#include "tests/support/test.hpp"
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstring>

namespace tesela::test {

template <class T>
const T nan_of = [] {
  constexpr real_t<T> nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  if constexpr (is_complex<T>)
    return T(nan, nan);
  else
    return nan;
}();

/// Returns x, with the imaginary part y if T is complex.
template <class T>
T number(double x, double y) {
  if constexpr (is_complex<T>)
    return T(static_cast<real_t<T>>(x), static_cast<real_t<T>>(y));
  else
    return static_cast<T>(x);
}

/// A column-major matrix with padding below each column, which must neither be read nor written: it is NaN.
template <class T>
struct Padded {
  index_t m, n, ld;
  std::vector<T> a;

  Padded(index_t rows, index_t cols, T value = nan_of<T>, index_t room = 3)
      : m(rows),
        n(cols),
        ld(std::max<index_t>(rows, 1) + room),
        a(static_cast<std::size_t>(ld * std::max<index_t>(cols, 1)), nan_of<T>) {
    for (index_t j = 0; j < n; ++j) std::fill_n(at(0, j), m, value);
  }
  /// Returns uniform numbers in [-1, 1].
  static Padded random(index_t rows, index_t cols, std::uint64_t seed = 1, index_t room = 3) {
    Padded x(rows, cols, nan_of<T>, room);
    const Generator<T> element{Pattern::uniform, 0, cols, seed};
    for (index_t j = 0; j < cols; ++j)
      for (index_t i = 0; i < rows; ++i) x(i, j) = element(i, j);
    return x;
  }
  T* data() { return a.data(); }
  const T* data() const { return a.data(); }
  T* at(index_t i, index_t j) { return a.data() + i + j * ld; }
  T& operator()(index_t i, index_t j) { return a[static_cast<std::size_t>(i + j * ld)]; }
  const T& operator()(index_t i, index_t j) const { return a[static_cast<std::size_t>(i + j * ld)]; }
  template <template <class> class Access>
  Access<T> as() {
    return {{a.data(), m, n, ld}};
  }
  TileMatrix<T> map(Runtime& runtime, TileShape tile, const std::string& name = "A") const {
    return TileMatrix<T>::map(runtime, a.data(), m, n, ld, tile, name);
  }
  /// Compares all bits, with the padding.
  bool operator==(const Padded& other) const {
    return m == other.m && a.size() == other.a.size() && std::memcmp(data(), other.data(), a.size() * sizeof(T)) == 0;
  }
  /// Returns whether the padding has its bits.
  bool intact() const {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = m; i < ld; ++i)
        if (std::memcmp(&(*this)(i, j), &nan_of<T>, sizeof(T)) != 0) return false;
    return true;
  }
};

}  // namespace tesela::test
