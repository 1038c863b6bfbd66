#pragma once

#include <tesela/runtime/host_device.hpp>

#include <array>
#include <cmath>
#include <cstdint>

// Arithmetic of products by residues (docs/gemm.md): integers of 64 bits become bytes modulo small numbers that have no
// common factor, and the Chinese remainder theorem restores the product. Host and device use the same functions.
//
// Error of an element a^T b, with the norm R of scaled lines (largest_norm()): rounding to integers changes it by at
// most sqrt(k) (||a||_2 + ||b||_2) / 2 + k / 4 <= (2 sqrt(k) / R + k / R^2) ||a||_2 ||b||_2, the constants of the
// theorem change it by less than 2^-58 ||a||_2 ||b||_2, and three roundings follow. log2 R is 27.4 for 7 moduli, 54.6
// for 14, 58.4 for 15 and 62.2 for 16.

namespace tesela::kernels::int8 {

// The products P of the first 7, 14 and 15 numbers differ from double(P) by at most 2^-53 / 12 of P. This error is a
// common factor of all elements and adds up in a factorization, unlike roundings: with 197 as number 15 it is 2^-53
// / 2.
inline constexpr int most_moduli = 16;
inline constexpr std::array<int, most_moduli> moduli{256, 255, 253, 251, 247, 241, 239, 233,
                                                     229, 227, 223, 217, 211, 199, 193, 197};

/// Longest inner size of one product: a sum of 65536 products of bytes fits 32 bits, and reduce() is exact for it.
inline constexpr int deepest = 65536;

/// Exponent that marks a line with NaN or infinity; no line of finite numbers has it.
inline constexpr int not_finite = 1 << 20;

/// Constants of one modulus p for residue() and reduce().
struct Modulus {
  int p = 1;
  std::uint32_t low = 0, high = 0;  ///< eight signed bytes: 2^(8 j) mod p, j = 0 … 7
  int offset = 0;                   ///< multiple of p that makes sums positive, less 2^63 mod p
  std::uint32_t inverse = 0;        ///< 2^32 / p, rounded up
  int start = 0;                    ///< 128 (1 + 2^8 + 2^16) mod p
  int scale = 0;                    ///< -2^24 / p, rounded
};

/// Constants of the theorem for the first `count` moduli, with P their product: an integer x in (-P/2, P/2) with
/// residues r_l is P times the fraction sum r_l w_l mod 1. The weights w_l have 72 bits.
struct Restoration {
  int count = 0;
  std::uint32_t high[most_moduli]{}, middle[most_moduli]{}, low[most_moduli]{};  ///< units 2^-32, 2^-52, 2^-72
  std::uint32_t start[3]{};  ///< -128 sum w_l in these units: residues come as bytes r_l + 128
  double unit = 0;           ///< 2^-64 P
};

constexpr int power_of_two(int exponent, int p) {
  int r = 1 % p;
  for (int i = 0; i < exponent; ++i) r = r * 2 % p;
  return r;
}

/// Returns the representative of x >= 0 modulo p nearest to 0.
constexpr int centred(int x, int p) { return x % p > p / 2 ? x % p - p : x % p; }

constexpr Modulus modulus(int l) {
  const int p = moduli[static_cast<std::size_t>(l)];
  Modulus c{.p = p};
  for (int j = 0; j < 8; ++j)
    (j < 4 ? c.low : c.high) |= static_cast<std::uint32_t>(centred(power_of_two(8 * j, p), p) & 255) << (8 * (j % 4));
  c.offset = (8 * 255 * 128 / p + 2) * p - power_of_two(63, p);
  c.inverse = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + static_cast<std::uint64_t>(p) - 1) /
                                         static_cast<std::uint64_t>(p));
  c.start = centred(128 * (power_of_two(0, p) + power_of_two(8, p) + power_of_two(16, p)), p);
  c.scale = -((1 << 25) / p + 1) / 2;
  return c;
}

/// Returns the weights: w_l = y_l / p_l with y_l the inverse of P / p_l modulo p_l, rounded to 72 bits.
constexpr Restoration restoration(int count) {
  Restoration r{.count = count};
  std::uint64_t limbs[4] = {1, 0, 0, 0};  // P in base 2^32
  std::uint32_t high = 0;                 // of sum w_l
  std::uint64_t middle = 0, low = 0;
  for (int l = 0; l < count; ++l) {
    const int p = moduli[static_cast<std::size_t>(l)];
    std::uint64_t carry = 0;
    for (std::uint64_t& limb : limbs) {
      carry += limb * static_cast<std::uint64_t>(p);
      limb = carry & 0xffffffff, carry >>= 32;
    }
    int others = 1, y = 1;
    for (int other = 0; other < count; ++other)
      if (other != l) others = others * (moduli[static_cast<std::size_t>(other)] % p) % p;
    while (others * y % p != 1 && y < p) ++y;
    const auto divisor = static_cast<std::uint64_t>(p);  // long division of y by p
    std::uint64_t rest = static_cast<std::uint64_t>(y) << 32;
    r.high[l] = static_cast<std::uint32_t>(rest / divisor);
    rest = rest % divisor << 20;
    r.middle[l] = static_cast<std::uint32_t>(rest / divisor);
    rest = rest % divisor << 20;
    r.low[l] = static_cast<std::uint32_t>((2 * rest / divisor + 1) / 2);
    high += r.high[l], middle += r.middle[l], low += r.low[l];
  }
  constexpr std::uint64_t unit = std::uint64_t{1} << 20;
  low *= 128, middle = 128 * middle + low / unit, high = 128 * high + static_cast<std::uint32_t>(middle / unit);
  low %= unit, middle %= unit;
  const std::uint64_t borrow = low > 0 ? 1 : 0;
  r.start[2] = static_cast<std::uint32_t>((unit - low) % unit);
  r.start[1] = static_cast<std::uint32_t>((unit - middle - borrow) % unit);
  r.start[0] = 0u - high - (middle + borrow > 0 ? 1 : 0);
  r.unit = static_cast<double>(limbs[3] << 32 | limbs[2]) + static_cast<double>(limbs[1] << 32 | limbs[0]) * 0x1p-64;
  return r;
}

/// Signs of the bytes of two words that are multiplied byte by byte.
enum class Bytes : std::uint8_t { unsigned_signed, signed_signed, signed_unsigned };

/// Returns `sum` plus the four products of the bytes of a and b.
template <Bytes B>
TESELA_BOTH inline int add_products(int sum, std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  if constexpr (B == Bytes::unsigned_signed)
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  else if constexpr (B == Bytes::signed_signed)
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  else
    asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
#else
  const auto byte = [](std::uint32_t word, int j, bool is_signed) {
    const auto value = static_cast<std::uint8_t>(word >> (8 * j));
    return is_signed ? static_cast<int>(static_cast<std::int8_t>(value)) : static_cast<int>(value);
  };
  for (int j = 0; j < 4; ++j) sum += byte(a, j, B != Bytes::unsigned_signed) * byte(b, j, B != Bytes::signed_unsigned);
#endif
  return sum;
}

/// Returns the residue of x nearest to 0: in [-(p - 1) / 2, p / 2].
TESELA_BOTH inline int residue(const Modulus& c, std::int64_t x) {
  const auto bits = static_cast<std::uint64_t>(x) ^ std::uint64_t{1} << 63;  // x + 2^63
  const int sum = add_products<Bytes::unsigned_signed>(
      add_products<Bytes::unsigned_signed>(c.offset, static_cast<std::uint32_t>(bits >> 32), c.high),
      static_cast<std::uint32_t>(bits), c.low);  // in [0, 2^20)
  const auto up = static_cast<std::uint64_t>((c.p - 1) / 2) * c.inverse;
  return sum -
         static_cast<int>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(sum)) * c.inverse + up) >> 32) * c.p;
}

/// Returns the residue nearest to 0 of a sum with |sum| <= 2^14 deepest; as a byte if p is 256. A multiply that keeps
/// the upper half would take one instruction fewer, but is several times slower than these on compute capability 9.0.
TESELA_BOTH inline int reduce(int sum, std::uint32_t powers, int start, int scale, std::uint32_t top) {
  const int small = add_products<Bytes::signed_signed>(start, static_cast<std::uint32_t>(sum) ^ 0x00808080u, powers);
  const int quotient = small * scale + (1 << 23);  // minus small / p, in the upper byte
  return add_products<Bytes::signed_unsigned>(small, static_cast<std::uint32_t>(quotient), top);
}

/// A fraction in units of 2^-32, 2^-52 and 2^-72, modulo 1.
struct Fraction {
  std::uint32_t high, middle, low;

  TESELA_BOTH void add(std::uint32_t byte, const Restoration& r, int l) {
    high += byte * r.high[l], middle += byte * r.middle[l], low += byte * r.low[l];
  }
  /// Returns the fraction in [-1/2, 1/2), in units of 2^-64 and rounded down.
  TESELA_BOTH std::int64_t value() const {
    constexpr std::uint32_t rest = (1u << 20) - 1;
    const std::uint32_t carried = middle + (low >> 20), top = high + (carried >> 20);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(top) << 32 | (carried & rest) << 12 |
                                     (low & rest) >> 8);
  }
};

/// Returns the largest norm of scaled lines before they are rounded: products of rounded lines stay within P / 2.
inline double largest_norm(int count, std::int64_t k) {
  double product = 1;
  for (int l = 0; l < count; ++l) product *= moduli[static_cast<std::size_t>(l)];
  return std::sqrt(product / 2 * (1 - 0x1p-16)) - 0.5 * std::sqrt(static_cast<double>(k)) - 1;
}

}  // namespace tesela::kernels::int8
