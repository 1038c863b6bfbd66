#pragma once

#include <tesela/runtime/types.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tesela::kernels {

/// Returns whether all |x_i| are below 2^e, a power in the range of normal numbers, or the first one beyond it. Adds to
/// the exponent's bits: the sum of an x_i of 2^e or more changes the sign's bit. One addition and one mask per element.
template <class T>
bool all_below(const T* x, index_t count, int e) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  constexpr int fraction = Limits::digits - 1, sign = static_cast<int>(8 * sizeof(T)) - 1;
  constexpr Bits exponent = (Bits{1} << sign) - (Bits{1} << fraction);
  const Bits rest = (Bits{1} << sign) - (static_cast<Bits>(e - Limits::min_exponent + 2) << fraction);
  Bits any = 0;
  for (index_t i = 0; i < count; ++i) any |= (std::bit_cast<Bits>(x[i]) & exponent) + rest;
  return any >> sign == 0;
}

/// Returns whether all x_i are finite.
template <class T>
bool all_finite(const T* x, index_t count) {
  return all_below(x, count, std::numeric_limits<T>::max_exponent);
}

}  // namespace tesela::kernels
