#pragma once

#include <charconv>
#include <string>

namespace tesela {

/// Returns the shortest decimals that read back to the same number, such as "1e+300". std::to_string() would write 308
/// digits for large numbers and "0.000000" for small ones.
inline std::string digits(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace tesela
