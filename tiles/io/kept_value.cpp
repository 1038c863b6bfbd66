#include <tesela/tiles/io/kept_value.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace tesela {

bool is_zero(std::string_view decimal) {
  return decimal.substr(0, decimal.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
}

bool is_exactly(std::string_view integer, double value) {
  integer.remove_prefix(std::min(integer.find_first_of("123456789"), integer.size()));  // the sign, and zeros
  constexpr std::size_t always_exact = std::numeric_limits<double>::digits10;
  if (integer.size() <= always_exact) return true;
  std::array<char, 320> digits;  // the largest double has 309
  const char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::abs(value), std::chars_format::fixed, 0).ptr;
  return integer == std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace tesela
