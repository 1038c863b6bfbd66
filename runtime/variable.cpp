#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/variable.hpp>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tesela {

std::int64_t variable_or(const char* name, std::int64_t otherwise, std::int64_t least) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == 0) return otherwise;
  const std::string_view text = value;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    throw EnvironmentError(std::string(name) + '=' + value + " is not a whole number >= " + std::to_string(least) +
                           ": set it to one, or unset it");
  return number;
}

}  // namespace tesela
