#pragma once

#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>
#include <span>

namespace tesela {

// Algorithms bring their input to size 1 by powers of two, which rounds nothing, and take the same powers back from
// their results: so every size of input has the same digits in its result, and squares neither overflow nor vanish.

/// The e with 2^(e - 1) <= max |x_i| < 2^e: x times 2^-e has size 1. 0 where all are zero or one is infinite; a NaN is
/// passed over. A denormal maximum counts with the digits that it has: e goes down to -1073 (single: -148).
template <class T>
int exponent_of_largest(std::span<const T> x) {
  T most = 0;
  for (const T value : x) most = std::abs(value) > most ? std::abs(value) : most;
  int e = 0;
  if (most > 0 && most <= std::numeric_limits<T>::max()) std::frexp(most, &e);
  return e;
}

/// e with 2^e <= max |x| < 2^(e + 1); 0 where all are zero. What is not finite does not count.
template <class T>
int largest_exponent(index_t n, const T* x) {
  T most = 0;
  for (index_t i = 0; i < n; ++i) {
    const T size = std::abs(x[i]);
    most = size > most && std::isfinite(size) ? size : most;
  }
  return most > T(0) ? std::ilogb(most) : 0;
}

/// x <- 2^e x: exact, or rounded once where the result is denormal, or infinite.
template <class T>
void scale_by_power_of_two(std::span<T> x, int e) {
  using Limits = std::numeric_limits<T>;
  if (e == 0) return;
  if (e >= Limits::min_exponent - 1 && e < Limits::max_exponent) {
    const T factor = std::ldexp(T(1), e);
    for (T& value : x) value *= factor;
  } else {
    for (T& value : x) value = std::ldexp(value, e);
  }
}

}  // namespace tesela
