#include "cli/app/numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tesela::cli {
namespace {

constexpr double largest_whole = 9007199254740992;  // that a double holds exactly, with all below it

CLI::Validator number(const char* name, const char* what, bool zero_too) {
  return CLI::Validator(
      [what, zero_too](std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0 ||
            (value == 0 && !zero_too))
          return fmt::format("'{}' is not {}", text, what);
        if (value == std::trunc(value) && value < largest_whole) text = fmt::format("{:.0f}", value);
        return {};
      },
      name);
}

}  // namespace

CLI::Validator positive() { return number("POSITIVE", "a positive number", false); }
CLI::Validator non_negative() { return number("NONNEGATIVE", "a number of 0 or more", true); }

}  // namespace tesela::cli
