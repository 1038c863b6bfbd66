#pragma once

#include <tesela/runtime/types.hpp>

#include <cmath>

namespace tesela {

// Scaling by powers of two, which rounds nothing as long as the results are normal.

/// x *= 2^exponent for n elements, in two steps of which neither factor overflows.
template <class T>
void multiply_by_power(index_t n, T* x, int exponent) {
  if (exponent == 0) return;
  const T first = std::ldexp(T(1), exponent / 2), rest = std::ldexp(T(1), exponent - exponent / 2);
  for (index_t i = 0; i < n; ++i) x[i] = x[i] * first * rest;
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

}  // namespace tesela
