#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>

namespace tesela {

/// Elements of generated matrices.
enum class Pattern : std::uint8_t {
  constant,  ///< a(i, j) = value
  index,     ///< a(i, j) = i n + j, the row-major number of the element (n: columns of the whole matrix)
  uniform,   ///< independent uniform numbers in [-1, 1), the same for every tiling and on every device
  normal,    ///< independent standard normal numbers; the same except for the last bits of a device's log and cos
  /// uniform numbers times 2^-(floor(40 i / m) + floor(40 j / n)): rows and columns each decrease by 12 orders of
  /// magnitude from the first to the last, entries by 24. The factors are exact, and single precision holds them.
  graded,
  band,  ///< uniform numbers where |i - j| <= half_width, zeros elsewhere: 1 is tridiagonal, 2 pentadiagonal
};

/// One element of a generated matrix; row and column count from 0 in the whole matrix. Uniform numbers come from a
/// counter-based generator: Steele, Lea and Flood's SplitMix64 finalizer over (seed, row, column). Normal numbers are
/// their Box-Muller transforms. Both parts of a complex element are such numbers, and independent; its real part is the
/// element of the real matrix.
template <class T>
struct Generator {
  Pattern pattern = Pattern::constant;
  T value = 0;             ///< for `constant`: each element
  index_t columns = 0;     ///< n, of the whole matrix
  std::uint64_t seed = 0;  ///< of random numbers
  index_t rows = 0;        ///< m, of the whole matrix
  index_t half_width = 0;  ///< of a band

  /// Returns 64 mixed bits.
  TESELA_BOTH static std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 64 independent random bits for each element.
  TESELA_BOTH std::uint64_t bits(index_t row, index_t column) const {
    return mix(mix(mix(seed) ^ static_cast<std::uint64_t>(row)) ^ static_cast<std::uint64_t>(column));
  }
  /// Returns the uniform number of these bits.
  TESELA_BOTH static real_t<T> uniform_of(std::uint64_t random) {
    using Real = real_t<T>;
    // As many leading bits as T's significand holds, so that the number is exact and below 1.
    constexpr int kept = std::numeric_limits<Real>::digits;
    return static_cast<Real>(random >> (64 - kept)) * (Real(2) / static_cast<Real>(std::uint64_t{1} << kept)) - Real(1);
  }
  TESELA_BOTH T uniform(index_t row, index_t column) const {
    const std::uint64_t random = bits(row, column);
    if constexpr (is_complex<T>)
      return T(uniform_of(random), uniform_of(mix(random)));
    else
      return uniform_of(random);
  }
  TESELA_BOTH T normal(index_t row, index_t column) const {
    const std::uint64_t first = bits(row, column);
    constexpr double unit = 1.0 / static_cast<double>(std::uint64_t{1} << 53), two_pi = 6.283185307179586;
    const double radius = (static_cast<double>(first >> 11) + 0.5) * unit;  // in (0, 1): its logarithm is finite
    const double angle = static_cast<double>(mix(first) >> 11) * unit;
    const double size = std::sqrt(-2 * std::log(radius));
    if constexpr (is_complex<T>)
      return T(static_cast<real_t<T>>(size * std::cos(two_pi * angle)),
               static_cast<real_t<T>>(size * std::sin(two_pi * angle)));
    else
      return static_cast<T>(size * std::cos(two_pi * angle));
  }
  /// Returns a random number of magnitude 1 for a row or column.
  static std::complex<double> phase(std::uint64_t of_seed, index_t i) {
    const double turns = static_cast<double>(mix(mix(of_seed) ^ static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
    return std::polar(1.0, 6.283185307179586 * turns);
  }
  TESELA_BOTH T operator()(index_t row, index_t column) const {
    switch (pattern) {
      case Pattern::constant: return value;
      case Pattern::index: return static_cast<T>(static_cast<real_t<T>>(row * columns + column));
      case Pattern::uniform: return uniform(row, column);
      case Pattern::normal: return normal(row, column);
      case Pattern::graded:
        return times_power_of_two(uniform(row, column), -static_cast<int>(40 * row / rows + 40 * column / columns));
      case Pattern::band: return row - column <= half_width && column - row <= half_width ? uniform(row, column) : T(0);
    }
    return value;
  }
};

}  // namespace tesela
