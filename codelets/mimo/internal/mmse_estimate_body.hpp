#pragma once

#include <tesela/codelets/mimo/internal/reflectors_subwarp_body.hpp>

#include <limits>

// The linear minimum mean square error estimate of one signal by one thread, in double. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

// Values of std::numeric_limits, whose functions a GPU cannot call.
template <class T>
inline constexpr T endless = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T largest_number = std::numeric_limits<T>::max();
template <class T>
inline constexpr double rounding_of = static_cast<double>(std::numeric_limits<T>::epsilon());

/// Returns 1 / sqrt(x) for x > 0.
TESELA_INLINE double inverse_root(double x) {
#if defined(__CUDA_ARCH__)
  return rsqrt(x);
#else
  return 1 / std::sqrt(x);
#endif
}

/// Returns whether rounding can hide which points are next to part j of a least-squares solution x of A. Rounding moves
/// that part by eps sqrt(spread) (|r| sqrt(most) + reach): spread is ((A^H A)^-1)(j, j), r the residual, most the
/// largest ||a_k||^2 spread_k, reach^2 the sum of ||a_k||^2 |x_k|^2, so that columns' units do not matter (Björck,
/// Numerical Methods for Least Squares Problems, 1996, 1.4). point: the largest point.
TESELA_BOTH inline bool hidden_by_rounding(double spread, double most, double residual, double reach, double point) {
  constexpr double harmless = 1e-8, visible = 1e-3;
  if (rounding_of<double> * most < harmless) return false;
  return !(rounding_of<double> * std::sqrt(spread) * (residual * std::sqrt(most) + reach) <= visible * point);
}

/// Numbers of a channel and its signals in double, scaled by a power of two: double has room for the squares of single
/// precision; numbers in double are scaled by H's largest part.
template <class T>
struct Exact {
  int exponent = 0;
  double first = 1, second = 1;
  /// of: the exponent of H's largest part, or 0 in single precision.
  TESELA_INLINE explicit Exact(int of) : exponent(of) {
    if constexpr (sizeof(T) == 8) {
      const Scale<double> scale(exponent);
      first = scale.first, second = scale.second;
    }
  }
  TESELA_INLINE explicit Exact(const ChannelView<T>& view) : Exact(largest_exponent(view)) {}

  TESELA_INLINE static int largest_exponent(const ChannelView<T>& view) {
    if constexpr (sizeof(T) == 4) return 0;
    T largest = 0;
    for (index_t j = 0; j < view.streams; ++j)
      for (index_t i = 0; i < view.antennas; ++i) {
        const T size = size_of(view.h[i + j * view.ld]);
        largest = size > largest ? size : largest;
      }
    return exponent_of(largest);
  }
  TESELA_INLINE Complex<double> operator()(Complex<T> x) const {
    if constexpr (sizeof(T) == 8)
      return {x.re * first * second, x.im * first * second};
    else
      return {static_cast<double>(x.re), static_cast<double>(x.im)};
  }
};

/// Factorization Q R = [H; sqrt(N0) I] and z = Q^H [y; 0] for up to S streams: R begins as sqrt(N0) I, and each
/// antenna's row is rotated into it. The square of H's condition number never occurs, and R's size does not depend on
/// the number of antennas.
template <int S>
struct MmseEstimate {
  int n;
  double diagonal[S], spread[S];  ///< spread: ((H^H H + N0 I)^-1)(j, j)
  Complex<double> r[S * (S - 1) / 2 + 1], z[S];
  double residual = 0, most = 0, reach = 0;  ///< arguments of hidden_by_rounding(); residual and reach squared

  /// Returns the end of loops over streams: a compile-time constant if a thread has enough registers, so that they are
  /// unrolled.
  TESELA_INLINE int end() const { return S <= 8 ? S : n; }
  TESELA_INLINE static constexpr int place(int i, int j) { return i * (2 * S - i - 1) / 2 + j - i - 1; }

  TESELA_INLINE MmseEstimate(int streams, double alpha) : n(streams) {
    TESELA_FLAT
    for (int i = 0; i < end(); ++i) diagonal[i] = alpha, z[i] = {0, 0};
    for (int e = 0; e < S * (S - 1) / 2; ++e) r[e] = {0, 0};
  }

  /// Adds one antenna: its row of H and its received number.
  TESELA_INLINE void take(Complex<double>* row, Complex<double> heard) {
    TESELA_FLAT
    for (int k = 0; k < end(); ++k) {
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
      TESELA_FLAT
      for (int j = k + 1; j < end(); ++j)
        if (j < n) turn(r[place(k, j)], row[j]);
      turn(z[k], heard);
    }
    residual += norm(heard);
  }

  /// Replaces z by the estimate. Returns false if columns are dependent up to rounding.
  TESELA_INLINE bool solve(double rounding = rounding_of<double>) {
    double largest = 0, least = endless<double>;
    TESELA_FLAT
    for (int i = 0; i < end(); ++i) {
      if (i >= n) continue;
      largest = diagonal[i] > largest ? diagonal[i] : largest;
      least = diagonal[i] < least ? diagonal[i] : least;
      TESELA_FLAT
      for (int j = i + 1; j < end(); ++j)
        if (j < n && size_of(r[place(i, j)]) > largest) largest = size_of(r[place(i, j)]);
    }
    if (!(least > 8 * n * rounding * largest)) return false;
    TESELA_FLAT
    for (int i = 0; i < end(); ++i) diagonal[i] = i < n ? 1 / diagonal[i] : 0, spread[i] = 0;
    substitute(end() - 1, z);
    // R^-1 column by column.
    TESELA_FLAT
    for (int c = 0; c < end(); ++c) {
      if (c >= n) continue;
      Complex<double> x[S];
      TESELA_FLAT
      for (int i = 0; i < end(); ++i) x[i] = {i == c ? 1.0 : 0.0, 0};
      substitute(c, x);
      TESELA_FLAT
      for (int i = 0; i < end(); ++i)
        if (i <= c) spread[i] += norm(x[i]);
    }
    TESELA_FLAT
    for (int j = 0; j < end(); ++j) {
      if (j >= n) continue;
      double square = 1 / (diagonal[j] * diagonal[j]);
      TESELA_FLAT
      for (int i = 0; i < j; ++i) square += norm(r[place(i, j)]);
      most = square * spread[j] > most ? square * spread[j] : most;
      reach += square * norm(z[j]);
    }
    return true;
  }

  /// Returns hidden_by_rounding() for an estimate; `point` is the stream's largest point times its bias.
  TESELA_INLINE bool lost(int stream, double point) const {
    return hidden_by_rounding(spread[stream], most, std::sqrt(residual), std::sqrt(reach), point);
  }

 private:
  /// Solves R x = given, where both are zero after `last`.
  TESELA_INLINE void substitute(int last, Complex<double>* x) const {
    TESELA_FLAT
    for (int i = end() - 1; i >= 0; --i) {
      if (i > last || i >= n) continue;
      Complex<double> left = x[i];
      TESELA_FLAT
      for (int j = i + 1; j < end(); ++j)
        if (j <= last && j < n) left -= r[place(i, j)] * x[j];
      x[i] = diagonal[i] * left;
    }
  }
};

}  // namespace tesela::kernels::mimo
