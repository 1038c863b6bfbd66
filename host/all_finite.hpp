#pragma once

#include <tesela/runtime/types.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tesela::kernels {

/// Adds one at the end of the exponent's bits: if all of them are set, the sum sets the sign's bit. One addition and
/// one mask per element.
template <class T>
bool all_finite(const T* x, index_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int fraction = std::numeric_limits<T>::digits - 1, sign = static_cast<int>(8 * sizeof(T)) - 1;
  constexpr Bits one = Bits{1} << fraction, exponent = (Bits{1} << sign) - one;
  Bits any = 0;
  for (index_t e = 0; e < count; ++e) any |= (std::bit_cast<Bits>(x[e]) & exponent) + one;
  return any >> sign == 0;
}

}  // namespace tesela::kernels
