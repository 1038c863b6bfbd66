#pragma once

#include <tesela/codelets/mimo/internal/reflectors_subwarp_body.hpp>

#include <cstdint>
#include <limits>

// The linear minimum mean square error estimate of one signal by one thread, in double, and its bits. Internal to
// codelets/mimo.

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

/// Points of all streams: column j of the view has the points of stream j. If all streams are square QAM, columns n + j
/// and 2 n + j, for n streams, have the amplitudes of its points' real and imaginary parts, which are equal; the points
/// of both are stored one after the other. A label's first, third … bits then belong to the real part.
struct BitLists {
  int n = 0;
  const SearchColumn* columns = nullptr;
  const SearchPoint* points = nullptr;
  bool square = false;

  TESELA_INLINE const SearchColumn& axis(int j, bool imaginary) const { return columns[(imaginary ? 2 * n : n) + j]; }
  TESELA_INLINE int width(int j) const {
    int bits = 0;
    while (columns[j].count >> (bits + 1) != 0) ++bits;
    return bits;
  }
};

inline constexpr int most_bits = 10, most_amplitudes = 32;

/// Returns the amplitudes that have a 1 at this place of the label.
TESELA_BOTH inline std::uint32_t amplitudes_with(const BitLists& lists, const SearchColumn& axis, int bit) {
  std::uint32_t found = 0;
  for (int k = 0; k < axis.count; ++k)
    found |= static_cast<std::uint32_t>(lists.points[axis.first + k].label >> bit & 1) << k;
  return found;
}

/// Returns the place next to x >= 0.
TESELA_INLINE int nearest_place(double x) {
  return static_cast<int>(x + 0.5);  // NOLINT(bugprone-incorrect-roundings): never below 0, and lround is slow on a GPU
}

/// Returns x / n0, also for an n0 so small that it might be flushed to 0.
TESELA_INLINE double over_noise(double x, double n0) { return x == 0 ? 0 : x / n0; }

/// Returns whether x is nearer to q than to p. For a distant x both distances would be |x|, rounded.
template <class T>
TESELA_INLINE bool nearer(Complex<T> x, Complex<T> p, Complex<T> q) {
  return (x.re - T(0.5) * (p.re + q.re)) * (q.re - p.re) + (x.im - T(0.5) * (p.im + q.im)) * (q.im - p.im) > 0;
}

/// Converts L to T: values beyond T's range become its largest number. clip: 0 for none.
template <class T>
TESELA_INLINE T cut_likelihood(double l, double clip) {
  constexpr auto largest = static_cast<double>(largest_number<T>);
  const double most = clip > 0 && clip < largest ? clip : largest;
  return static_cast<T>(l > most ? most : l < -most ? -most : l);
}

/// Returns the highest, or the lowest, place of a bit that is 1.
TESELA_INLINE int highest_of(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 31 - __clz(static_cast<int>(x));
#else
  return 31 - __builtin_clz(x);
#endif
}
TESELA_INLINE int lowest_of(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(x)) - 1;
#else
  return __builtin_ctz(x);
#endif
}

/// An estimate of one stream: x = bias s + noise of variance n0 bias spread.
struct LinearEstimate {
  Complex<double> x;
  double bias, inverse_bias, inverse_spread;  ///< inverse_spread: of bias spread; inverses of 0 are 0
  double n0, inverse_n0;

  TESELA_INLINE LinearEstimate(Complex<double> estimate, double of, double spread, double noise, double inverse_noise)
      : x(estimate),
        bias(of),
        inverse_bias(of > 0 ? 1 / of : 0),
        inverse_spread(of > 0 ? inverse_bias / spread : 0),
        n0(noise),
        inverse_n0(inverse_noise) {}

  /// Computes L from the square distances to the nearest points with bit 1 and with bit 0, both minus the distance to
  /// one point of the stream: for a distant x, |x|^2 would hide their difference; for points far from 0, their squares
  /// would.
  TESELA_INLINE double likelihood(double one, double zero) const {
    const double apart = (one - zero) * inverse_spread;
    return inverse_n0 < endless<double> ? apart * inverse_n0 : over_noise(apart, n0);
  }

  /// Calls give(bit, L) for all bits; place 0 is the label's last. ones(bit): amplitudes_with().
  template <class Ones, class Give>
  TESELA_INLINE void square_bits(const BitLists& lists, int j, int width, const Ones& ones, const Give& give) const {
    for (int part = 0; part < 2; ++part) {
      const SearchColumn& axis = lists.axis(j, part == 1);
      const double at = part == 0 ? x.re : x.im, last = axis.count - 1;
      const double place = (at * inverse_bias - axis.low) / axis.step;
      const double inside = place > 0 ? (place < last ? place : last) : 0;  // 0 for NaN
      const int nearest = nearest_place(inside);
      const std::uint32_t all = axis.count < 32 ? (std::uint32_t{1} << axis.count) - 1 : ~std::uint32_t{0};
      const std::uint32_t before = (std::uint32_t{1} << nearest) - 1;
      const auto square = [&](int k) {  // minus the value of the nearest point
        return bias * axis.step * (k - nearest) * (bias * (2 * axis.low + (k + nearest) * axis.step) - 2 * at);
      };
      constexpr double least = 0;
      for (int bit = width - 1 - part; bit >= 0; bit -= 2) {
        const std::uint32_t with = ones(bit);
        const bool one = (with >> nearest & 1) != 0;
        const std::uint32_t others = one ? all & ~with : with, below = others & before, above = others & ~before;
        const int down = below != 0 ? highest_of(below) : lowest_of(above), up = above != 0 ? lowest_of(above) : down;
        const double other = square(inside - down <= up - inside ? down : up);
        give(bit, one ? likelihood(least, other) : likelihood(other, least));
      }
    }
  }

  /// Does the same for arbitrary points.
  template <class Give>
  TESELA_INLINE void bits(const BitLists& lists, int j, int width, const Give& give) const {
    const SearchColumn& own = lists.columns[j];
    for (int bit = width - 1; bit >= 0; --bit) {
      double one = endless<double>, zero = one;
      const SearchPoint& first = lists.points[own.first];
      for (int k = own.first; k < own.first + own.count; ++k) {
        const SearchPoint& p = lists.points[k];
        const double square = bias * (p.re - first.re) * (bias * (p.re + first.re) - 2 * x.re) +
                              bias * (p.im - first.im) * (bias * (p.im + first.im) - 2 * x.im);
        double& least = (p.label >> bit & 1) != 0 ? one : zero;
        least = square < least ? square : least;
      }
      give(bit, likelihood(one, zero));
    }
  }
};

}  // namespace tesela::kernels::mimo
