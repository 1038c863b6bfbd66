#include <tesela/tiles/io/csv_column.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tesela {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 12> missing_codes{"",    "NA",   "N/A",  "n/a",  "#N/A", "NaN",
                                                         "nan", "null", "NULL", "<NA>", ".",    "-"};

bool is_missing(std::string_view text, const CsvFields& fields) {
  return std::find(missing_codes.begin(), missing_codes.end(), text) != missing_codes.end() ||
         std::find(fields.missing.begin(), fields.missing.end(), text) != fields.missing.end();
}

std::string place(index_t line, const std::string& name) {
  return "line " + std::to_string(line) + ", column " + name + ": ";
}

std::string shown(std::string_view text) { return "'" + std::string(text.substr(0, 40)) + "'"; }

/// Parses as strtod, without its names of numbers and other bases. Returns whether the whole text is a number.
bool parse(const std::string& text, double& value) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

}  // namespace

bool looks_like_number(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  for (const char* word : {"inf", "Inf", "INF", "infinity", "Infinity"})
    if (text == word) return true;
  return text.find_first_not_of("0123456789+-.,eE") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

std::string CsvColumn::add(std::string_view text, index_t line, CsvFields& fields) {
  if (is_missing(text, fields)) {
    values_.push_back(missing_value);
    return {};
  }
  if (request_.kind == ColumnKind::either && kind_ == ColumnKind::either)
    kind_ = looks_like_number(text) ? ColumnKind::number : ColumnKind::level;
  if (kind_ == ColumnKind::number) return add_number(text, line, fields);
  if (request_.kind == ColumnKind::either && looks_like_number(text))
    return place(line, name()) + shown(text) + " is among text such as " + shown(levels_.front()) + "; factor(" +
           name() + ") accepts both";
  add_level(text);
  return {};
}

void CsvColumn::add_level(std::string_view text) {
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return values_.push_back(found->second);
  const auto number = static_cast<double>(levels_.size());
  numbers_.emplace(text, number);
  levels_.emplace_back(text);
  values_.push_back(number);
}

std::string CsvColumn::add_number(std::string_view text, index_t line, CsvFields& fields) {
  std::string point(text);
  const std::size_t comma = point.find(',');
  const bool decimal_comma = fields.decimal_comma && comma != std::string::npos && point.find('.') == std::string::npos;
  if (decimal_comma) point[comma] = '.';
  double value = 0;
  if (!parse(point, value))
    return place(line, name()) + shown(text) + " is not a finite number" +
           (request_.kind == ColumnKind::either && !looks_like_number(text)
                ? "; factor(" + name() + ") accepts text, and a code of missing values can be named"
                : "");
  const char mark = decimal_comma ? ',' : point.find('.') != std::string::npos ? '.' : '\0';
  if (mark != 0 && fields.decimal_mark != 0 && mark != fields.decimal_mark)
    return place(line, name()) + shown(text) + " has a decimal " + (decimal_comma ? "comma" : "point") + ", and line " +
           std::to_string(fields.mark_line) + " a decimal " + (decimal_comma ? "point" : "comma");
  if (mark != 0 && fields.decimal_mark == 0) fields.decimal_mark = mark, fields.mark_line = line;
  const bool integer = point.find_first_of(".eE") == std::string::npos;
  const char* const changed = !std::isfinite(value)           ? " is beyond double precision"
                              : value == 0 && !is_zero(point) ? " is below double precision's smallest number"
                              : integer && !is_exactly(point, value)
                                  ? " is an integer that double precision does not hold; with a decimal point it is "
                                    "rounded"
                                  : nullptr;
  if (changed != nullptr) return place(line, name()) + std::string(text) + changed;
  values_.push_back(value);
  return {};
}

}  // namespace tesela
