#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

#include <limits>

// The linear estimate of least mean square error of one signal by one thread, in double. Internal to codelets/mimo.

/// Before a loop of S steps: on a GPU unrolled where what it indexes has room in registers.
#if defined(__CUDA_ARCH__)
#define TESELA_SMALL_LOOP _Pragma("unroll (S <= 8 ? S : 1)")
#else
#define TESELA_SMALL_LOOP
#endif

namespace tesela::kernels::mimo {

// Of std::numeric_limits, whose functions a GPU cannot call.
template <class T>
inline constexpr T endless = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T largest_number = std::numeric_limits<T>::max();

/// 1 / root of x > 0.
TESELA_INLINE double inverse_root(double x) {
#if defined(__CUDA_ARCH__)
  return rsqrt(x);
#else
  return 1 / std::sqrt(x);
#endif
}

/// The largest part of H, which says by which power of two it is scaled.
template <class T>
TESELA_INLINE int channel_exponent(const ChannelView<T>& view) {
  T largest = 0;
  for (index_t j = 0; j < view.streams; ++j)
    for (index_t i = 0; i < view.antennas; ++i) {
      const T size = size_of(view.h[i + j * view.ld]);
      largest = size > largest ? size : largest;
    }
  return exponent_of(largest);
}

/// Q R = [H; sqrt(N0) I] and z = Q^H [y; 0] for up to S streams: R begins as sqrt(N0) I, and each antenna's row is
/// rotated into it. No square of H's condition number comes up, and of R's size nothing depends on antennas.
template <int S>
struct RowRotations {
  int n;
  double diagonal[S], spread[S];  ///< spread: ((H^H H + N0 I)^-1)(j, j)
  Complex<double> r[S * (S - 1) / 2 + 1], z[S];

  TESELA_INLINE static constexpr int place(int i, int j) { return i * (2 * S - i - 1) / 2 + j - i - 1; }

  TESELA_INLINE RowRotations(int streams, double alpha) : n(streams) {
    TESELA_SMALL_LOOP
    for (int i = 0; i < S; ++i) diagonal[i] = alpha, z[i] = {0, 0};
    for (int e = 0; e < S * (S - 1) / 2; ++e) r[e] = {0, 0};
  }

  /// One antenna more: its row of H and what it hears.
  TESELA_INLINE void take(Complex<double>* row, Complex<double> heard) {
    TESELA_SMALL_LOOP
    for (int k = 0; k < S; ++k) {
      if (k >= n) continue;
      const double square = diagonal[k] * diagonal[k] + norm(row[k]);
      if (!(square > 0)) continue;
      const double inverse = inverse_root(square), c = diagonal[k] * inverse;
      const Complex<double> s = inverse * row[k];
      diagonal[k] = square * inverse;
      const auto turn = [&](Complex<double>& above, Complex<double>& below) {
        const Complex<double> a = above, b = below;
        above = {c * a.re + s.re * b.re + s.im * b.im, c * a.im + s.re * b.im - s.im * b.re};
        below = {c * b.re - s.re * a.re + s.im * a.im, c * b.im - s.re * a.im - s.im * a.re};
      };
      TESELA_SMALL_LOOP
      for (int j = k + 1; j < S; ++j)
        if (j < n) turn(r[place(k, j)], row[j]);
      turn(z[k], heard);
    }
  }

  /// z becomes the estimate. False where columns are dependent, as far as rounding can tell.
  TESELA_INLINE bool solve() {
    double largest = 0, least = endless<double>;
    TESELA_SMALL_LOOP
    for (int i = 0; i < S; ++i) {
      if (i >= n) continue;
      largest = diagonal[i] > largest ? diagonal[i] : largest;
      least = diagonal[i] < least ? diagonal[i] : least;
      TESELA_SMALL_LOOP
      for (int j = i + 1; j < S; ++j)
        if (j < n && size_of(r[place(i, j)]) > largest) largest = size_of(r[place(i, j)]);
    }
    if (!(least > 8 * n * 2.3e-16 * largest)) return false;
    TESELA_SMALL_LOOP
    for (int i = 0; i < S; ++i) diagonal[i] = i < n ? 1 / diagonal[i] : 0, spread[i] = 0;
    substitute(S - 1, z);
    // R^-1 column by column.
    TESELA_SMALL_LOOP
    for (int c = 0; c < S; ++c) {
      if (c >= n) continue;
      Complex<double> x[S];
      TESELA_SMALL_LOOP
      for (int i = 0; i < S; ++i) x[i] = {i == c ? 1.0 : 0.0, 0};
      substitute(c, x);
      TESELA_SMALL_LOOP
      for (int i = 0; i < S; ++i)
        if (i <= c) spread[i] += norm(x[i]);
    }
    return true;
  }

 private:
  /// x of R x = given, where both are zero behind `last`.
  TESELA_INLINE void substitute(int last, Complex<double>* x) const {
    TESELA_SMALL_LOOP
    for (int i = S - 1; i >= 0; --i) {
      if (i > last || i >= n) continue;
      Complex<double> left = x[i];
      TESELA_SMALL_LOOP
      for (int j = i + 1; j < S; ++j)
        if (j <= last && j < n) left -= r[place(i, j)] * x[j];
      x[i] = diagonal[i] * left;
    }
  }
};

}  // namespace tesela::kernels::mimo
