#include "tools/app/regression_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

constexpr std::size_t most_unknowns = 40, most_sides = 8;

std::string number(const nlohmann::json& value, int digits) {
  return value.is_number() && std::isfinite(value.get<double>()) ? fmt::format("{:.{}g}", value.get<double>(), digits)
                                                                 : "-";
}

/// Returns the name of unknown j of a formula, or its number from 1.
std::string unknown(const nlohmann::json& side, std::size_t j) {
  const auto& one = side["coefficients"][j];
  return one.contains("name") ? one["name"].get<std::string>() : std::to_string(j + 1);
}

/// Returns the lines below a table: sigma and the fit.
std::string fit_lines(const nlohmann::json& side) {
  std::string text = side["degrees_of_freedom"].is_null()
                         ? std::string("variances of errors are known\n")
                         : fmt::format("sigma {}, {} degrees of freedom, classical standard errors\n",
                                       number(side["sigma"], 7), number(side["degrees_of_freedom"], 17));
  if (side.contains("r2"))
    text += fmt::format("R2 {}, adjusted R2 {}, F {} with {} and {} degrees of freedom, p {}\n", number(side["r2"], 7),
                        number(side["adjusted_r2"], 7), number(side["f"], 7), number(side["f_df"][0], 17),
                        number(side["f_df"][1], 17), number(side["f_p"], 3));
  return text;
}

/// Returns the heads of the columns, for complex unknowns of their parts and standard errors alone.
std::string heads(const nlohmann::json& side) {
  if (!side.contains("statistic"))
    return fmt::format("{:>14} {:>14} {:>14}\n", "real part", "imaginary part", "std error");
  const std::string level = fmt::format("{:.4g} %", 100 * side["level"].get<double>());
  return fmt::format("{:>14} {:>14} {:>10} {:>10} {:>14} {:>14}\n", "estimate", "std error",
                     side["statistic"].get<std::string>(), "p", level + " from", "to");
}

/// Returns the columns of an unknown.
std::string columns(const nlohmann::json& u) {
  const std::string error = number(u["std_error"], 7);
  if (const auto& x = u["estimate"]; x.is_array())
    return fmt::format("{:>14} {:>14} {:>14}\n", number(x[0], 7), number(x[1], 7), error);
  return fmt::format("{:>14} {:>14} {:>10} {:>10} {:>14} {:>14}\n", number(u["estimate"], 7), error,
                     number(u["statistic"], 4), number(u["p"], 3), number(u["low"], 7), number(u["high"], 7));
}

std::string side_table(const nlohmann::json& side) {
  const auto& unknowns = side["coefficients"];
  const std::size_t shown = std::min(unknowns.size(), most_unknowns);
  std::size_t width = 10;
  for (std::size_t j = 0; j < shown; ++j) width = std::max(width, unknown(side, j).size());
  const std::string head = side.contains("dependent") ? side["dependent"].get<std::string>() + " ~" : "unknown";
  std::string text = fmt::format("{:<{}} {}", head, width, heads(side));
  for (std::size_t j = 0; j < shown; ++j)
    text += fmt::format("{:<{}} {}", unknown(side, j), width, columns(unknowns[j]));
  if (unknowns.size() > shown) text += fmt::format("... and {} more (--json)\n", unknowns.size() - shown);
  return text + fit_lines(side);
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
