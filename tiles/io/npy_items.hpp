#pragma once

#include <tesela/tiles/io/npy_header.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// The numbers of a .npy file.

namespace tesela::npy {

/// IEEE 754's 16 bits.
struct Half {
  std::uint16_t bits;
  /// Returns the number, exactly.
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                         : std::numeric_limits<double>::infinity())
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 != 0 ? -size : size;
  }
};

/// NumPy's bool: a byte.
struct Truth {
  std::uint8_t bits;  ///< 0: false
};

/// Returns the number at p, which need not be aligned: a double for Half and Truth, otherwise a Number.
template <class Number, bool swapped>
auto load(const char* p) {
  using Bits =
      std::conditional_t<sizeof(Number) == 1, std::uint8_t,
                         std::conditional_t<sizeof(Number) == 2, std::uint16_t,
                                            std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>>>;
  static_assert(sizeof(Bits) == sizeof(Number));
  Bits bits;
  std::memcpy(&bits, p, sizeof bits);
  if constexpr (swapped && sizeof(Number) == 2) bits = __builtin_bswap16(bits);
  if constexpr (swapped && sizeof(Number) == 4) bits = __builtin_bswap32(bits);
  if constexpr (swapped && sizeof(Number) == 8) bits = __builtin_bswap64(bits);
  if constexpr (std::is_same_v<Number, Truth>)
    return bits != 0 ? 1.0 : 0.0;
  else if constexpr (std::is_same_v<Number, Half>)
    return static_cast<double>(Half{bits});
  else
    return std::bit_cast<Number>(bits);
}

/// Returns whether double precision holds the number; only integers of 64 bits may be too long.
template <class Number>
bool holds(Number number) {
  if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
    const auto bits = static_cast<std::uint64_t>(number);
    const std::uint64_t size = std::is_signed_v<Number> && number < Number{0} ? 0 - bits : bits;
    return size == 0 || std::bit_width(size) - std::countr_zero(size) <= std::numeric_limits<double>::digits;
  } else {
    return true;
  }
}

/// Calls f<Number, swapped>() for the type of the items.
template <class F>
void with_type(const Item& item, const F& f) {
  const auto in_order = [&]<class Number>() {
    item.swapped ? f.template operator()<Number, true>() : f.template operator()<Number, false>();
  };
  const auto integer = [&]<class Byte, class Two, class Four, class Eight>() {
    if (item.bytes == 1) return in_order.template operator()<Byte>();
    if (item.bytes == 2) return in_order.template operator()<Two>();
    if (item.bytes == 4) return in_order.template operator()<Four>();
    in_order.template operator()<Eight>();
  };
  if (item.kind == 'i') return integer.template operator()<std::int8_t, std::int16_t, std::int32_t, std::int64_t>();
  if (item.kind == 'u') return integer.template operator()<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>();
  if (item.kind == 'b') return in_order.template operator()<Truth>();
  if (item.bytes == 2) return in_order.template operator()<Half>();
  if (item.bytes == 4) return in_order.template operator()<float>();
  in_order.template operator()<double>();
}

}  // namespace tesela::npy
