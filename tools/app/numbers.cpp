#include "tools/app/numbers.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace tesela::cli {
namespace {

constexpr double largest_whole = 9007199254740992;  // all smaller integers are exact in double

constexpr std::uint64_t largest_index = std::numeric_limits<std::int64_t>::max();

/// Returns whether the text is an integer above `most`, which CLI11 would replace by the largest possible value.
bool beyond(const std::string& text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() && (error == std::errc::result_out_of_range || value > most);
}

Check number(const char* name, const char* what, bool zero_too, std::uint64_t most = largest_index) {
  return {[what, zero_too, most](std::string& text) -> std::string {
            if (beyond(text, most)) return fmt::format("'{}' is larger than {}", text, most);
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0 ||
                (value == 0 && !zero_too))
              return fmt::format("'{}' is not {}", text, what);
            if (value == std::trunc(value) && value < largest_whole) text = fmt::format("{:.0f}", value);
            return {};
          },
          name};
}

Check in_range(const std::string& range, const std::function<bool(double)>& inside) {
  return {[range, inside](const std::string& text) -> std::string {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool good = error == std::errc() && end == text.data() + text.size() && inside(value);
            return good ? std::string() : fmt::format("must be in {}, not {}", range, text);
          },
          range};
}

}  // namespace

Check positive() { return number("POSITIVE", "a positive number", false); }
Check non_negative() { return number("NONNEGATIVE", "a number of 0 or more", true); }
Check seed_number() {
  return number("NONNEGATIVE", "a number of 0 or more", true, std::numeric_limits<std::uint64_t>::max());
}

Check positive_up_to(double largest) {
  return in_range(fmt::format("(0, {}]", largest), [largest](double value) { return value > 0 && value <= largest; });
}

Check between(double least, double largest) {
  return in_range(fmt::format("[{}, {}]", least, largest),
                  [least, largest](double value) { return value >= least && value <= largest; });
}

template <class T>
T in_precision(const char* command, const char* option, double value) {
  using Real = real_t<T>;
  const Real result = static_cast<Real>(value);
  if (!std::isfinite(value)) throw ArgumentError(command, option, fmt::format("{} is not finite", value));
  if (!keeps(value, result))
    throw ArgumentError(command, option,
                        fmt::format("{} does not fit {} precision", value, sizeof(Real) == 4 ? "single" : "double"));
  return result;
}

template float in_precision(const char*, const char*, double);
template double in_precision(const char*, const char*, double);
template std::complex<float> in_precision(const char*, const char*, double);
template std::complex<double> in_precision(const char*, const char*, double);

}  // namespace tesela::cli
