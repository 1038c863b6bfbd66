#pragma once

#include <tesela/codelets/mimo/internal/mmse_estimate_body.hpp>

#include <cstdint>

// Bits from linear estimates. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

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
