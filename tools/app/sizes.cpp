#include "tools/app/sizes.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/progress.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace tesela::cli {

std::vector<index_t> parse_sizes(const std::string& option, const std::string& text, const std::string& form,
                                 std::size_t most) {
  std::vector<index_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (sizes.size() < most) {
    index_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1) break;
    sizes.push_back(size);
    if (next == end) return sizes;
    if (*next != 'x') break;
    at = next + 1;
  }
  throw ArgumentError("tesela", option, "'" + text + "' is not " + form + " with positive integers");
}

TileShape parse_tile(const std::string& text, TileShape suitable) {
  if (text.empty()) return suitable;
  const auto sizes = parse_sizes("--tile", text, "MB or MBxNB", 2);
  return {sizes.front(), sizes.back()};
}

GemmTile parse_gemm_tile(const std::string& text, GemmTile suitable) {
  if (text.empty()) return suitable;
  const auto size = parse_sizes("--tile", text, "MB, MBxNB or MBxNBxKB", 3);
  const index_t nb = size.size() > 1 ? size[1] : size[0];
  return {size[0], nb, size.size() > 2 ? size[2] : nb};
}

namespace {

struct PlanOnly {
  std::string command, json_path;
  bool quiet;
};

std::optional<PlanOnly>& plan_wanted() {
  static std::optional<PlanOnly> wanted;
  return wanted;
}

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

[[noreturn]] void show_plan(const PlanOnly& plan, const std::string& what, double bytes, double memory) {
  end_progress();
  const bool fits = bytes <= memory;
  const std::string status = fits ? "ok" : fmt::format("does not fit: {:.1f} GiB of {:.1f}", bytes / gib, memory / gib);
  if (plan.json_path != "-" && !plan.quiet)
    fmt::print("{}: {}\nmemory  {:.3g} GiB of {:.1f}\nstatus  {}\n", plan.command, what, bytes / gib, memory / gib,
               status);
  write_json({{"command", plan.command},
              {"version", config::version},
              {"plan", {{"matrices", what}, {"host", {{"peak_bytes", bytes}, {"room_bytes", memory}}}, {"fits", fits}}},
              {"status", status}},
             plan.json_path);
  throw PlanShown{fits ? done : environment};
}

}  // namespace

void plan_only(const std::string& command, const std::string& json_path, bool quiet) {
  plan_wanted() = {command, json_path, quiet};
}

void require_memory(const std::string& command, const std::string& what, double bytes) {
  const double memory = usable_host_bytes();
  if (const auto& plan = plan_wanted()) show_plan(*plan, what, bytes, memory);
  // The memory of some virtual machines grows with use (a factor of 64 was seen), so only larger requests are refused;
  // not so for a coordinate file, which would first fill the memory that exists with zeros.
  const double growth = has_coordinate_input() ? 1 : 64;
  if (bytes > growth * memory)
    throw EnvironmentError(fmt::format("{}: {} need {:.1f} GiB, memory and swap are {:.1f} GiB", command, what,
                                       bytes / gib, memory / gib));
}

std::pair<double, double> parse_range(const std::string& command, const std::string& text) {
  const auto refuse = [&] {
    throw ArgumentError(command, "--range", "'" + text + "' is not a,b with a < b (inf and -inf are numbers)");
  };
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) refuse();
  const auto number = [&](std::size_t from, std::size_t to) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, value);
    if (error == std::errc::result_out_of_range)
      throw ArgumentError(command, "--range", "'" + text + "' has a number beyond double precision; inf is a number");
    if (error != std::errc() || end != text.data() + to || std::isnan(value)) refuse();
    return value;
  };
  const std::pair range{number(0, comma), number(comma + 1, text.size())};
  if (!(range.first < range.second)) refuse();
  return range;
}

std::ptrdiff_t values_near_ends(std::span<const double> values, std::pair<double, double> range, double accuracy) {
  return std::count_if(values.begin(), values.end(), [&](double value) {
    return std::abs(value - range.first) <= accuracy || std::abs(value - range.second) <= accuracy;
  });
}

}  // namespace tesela::cli
