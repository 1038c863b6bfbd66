#pragma once

#include <cstdint>
#include <string>

namespace tesela::cli {

enum class Colour : std::uint8_t { red = 31, green = 32, yellow = 33 };

/// Returns the text in a colour if the descriptor is a terminal and NO_COLOR is empty (no-color.org).
std::string coloured(const std::string& text, Colour colour, int descriptor);

}  // namespace tesela::cli
