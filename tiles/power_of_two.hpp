#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>
#include <span>

namespace tesela {

// Algorithms scale their input to size 1 by powers of two and scale the results back, both without rounding. Inputs of
// every size therefore give results with the same digits, and squares neither overflow nor underflow.

/// Returns e with 2^(e - 1) <= max |x_i| < 2^e, so that 2^-e x has size 1; 0 if all elements are zero or one is
/// infinite. Ignores NaN. A complex x_i counts by the larger one of its parts. For a denormal maximum e is exact and
/// reaches -1073 (single precision: -148).
template <class T>
int exponent_of_largest(std::span<const T> x) {
  real_t<T> most = 0;
  for (const T value : x) most = largest_part(value) > most ? largest_part(value) : most;
  int e = 0;
  if (most > 0 && most <= std::numeric_limits<real_t<T>>::max()) std::frexp(most, &e);
  return e;
}

/// Returns e with 2^e <= max |x| < 2^(e + 1) over the finite elements; 0 if all are zero.
template <class T>
int largest_exponent(index_t n, const T* x) {
  real_t<T> most = 0;
  for (index_t i = 0; i < n; ++i) {
    const real_t<T> size = largest_part(x[i]);
    most = size > most && std::isfinite(size) ? size : most;
  }
  return most > 0 ? std::ilogb(most) : 0;
}

/// Returns x 2^e, rounded upwards if it is subnormal or T has fewer digits: exactly the numbers of T below x 2^e are
/// below the result.
template <class T>
T scaled_up(double x, int e) {
  const T y = static_cast<T>(std::ldexp(x, e));
  return std::ldexp(static_cast<double>(y), -e) < x ? std::nextafter(y, std::numeric_limits<T>::infinity()) : y;
}

/// x <- 2^e x: exact, or rounded once if the result is denormal or infinite.
template <class T>
void scale_by_power_of_two(std::span<T> x, int e) {
  using Limits = std::numeric_limits<real_t<T>>;
  if (e == 0) return;
  if (e >= Limits::min_exponent - 1 && e < Limits::max_exponent) {
    const real_t<T> factor = std::ldexp(real_t<T>(1), e);
    for (T& value : x) value *= factor;
  } else {
    for (T& value : x) value = times_power_of_two(value, e);
  }
}

}  // namespace tesela
