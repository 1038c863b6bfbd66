#include "tools/app/regression_table.hpp"

#include <fmt/format.h>

namespace tesela::cli {
namespace {

constexpr std::size_t most_unknowns = 40, most_sides = 8;

std::string number(const nlohmann::json& value, int digits) {
  return value.is_number() && std::isfinite(value.get<double>()) ? fmt::format("{:.{}g}", value.get<double>(), digits)
                                                                 : "-";
}

std::string side_table(const nlohmann::json& side) {
  const std::string level = fmt::format("{:.4g} %", 100 * side["level"].get<double>());
  std::string text = fmt::format("{:<10} {:>14} {:>14} {:>10} {:>10} {:>14} {:>14}\n", "unknown", "estimate",
                                 "std error", side["statistic"].get<std::string>(), "p", level + " from", "to");
  const auto& unknowns = side["coefficients"];
  for (std::size_t j = 0; j < std::min(unknowns.size(), most_unknowns); ++j) {
    const auto& u = unknowns[j];
    text += fmt::format("{:<10} {:>14} {:>14} {:>10} {:>10} {:>14} {:>14}\n", j + 1, number(u["estimate"], 7),
                        number(u["std_error"], 7), number(u["statistic"], 4), number(u["p"], 3), number(u["low"], 7),
                        number(u["high"], 7));
  }
  if (unknowns.size() > most_unknowns)
    text += fmt::format("... and {} more (--json)\n", unknowns.size() - most_unknowns);
  text += side["degrees_of_freedom"].is_null()
              ? std::string("variances of errors are known\n")
              : fmt::format("sigma {}, {} degrees of freedom\n", number(side["sigma"], 7),
                            number(side["degrees_of_freedom"], 17));
  return text;
}

}  // namespace

std::string regression_table(const nlohmann::json& regression) {
  std::string text;
  for (std::size_t k = 0; k < std::min(regression.size(), most_sides); ++k) {
    text += '\n';
    if (regression.size() > 1) text += fmt::format("right-hand side {}\n", k + 1);
    text += side_table(regression[k]);
  }
  if (regression.size() > most_sides)
    text += fmt::format("... and {} right-hand sides more (--json)\n", regression.size() - most_sides);
  return text + (text.empty() ? "" : "\n");
}

}  // namespace tesela::cli
