#pragma once

#include <charconv>
#include <string>

namespace tesela {

/// Returns the shortest decimals that read back to the same number, as "1e+300": std::to_string() writes 308 digits for
/// messages of large numbers, and "0.000000" of small ones.
inline std::string digits(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace tesela
