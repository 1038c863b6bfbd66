#pragma once

#include <array>
#include <charconv>
#include <string>

namespace tesela {

/// A number in the fewest digits that say it, as 0.25 and 1e-300: std::to_string says 0.000000 of that.
template <class T>
std::string shortest(T x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x);
  return std::string(text.data(), end.ptr);
}

}  // namespace tesela
