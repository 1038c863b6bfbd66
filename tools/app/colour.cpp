#include "tools/app/colour.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace tesela::cli {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string coloured(const std::string& text, Colour colour, int descriptor) {
  const bool shown = isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return shown ? fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text) : text;
}

}  // namespace tesela::cli
