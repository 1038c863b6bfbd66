#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace tesela {

/// Returns a number in the fewest digits that identify it, such as 0.25 or 1e-300 (0.000000 in std::to_string).
template <class T>
std::string shortest(T x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x);
  return std::string(text.data(), end.ptr);
}

/// Returns "1 row", "2 rows".
inline std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace tesela
