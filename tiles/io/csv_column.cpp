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

/// Returns whether the text ends in an exponent of Fortran, "D+01", with its sign or after a decimal point; otherwise
/// it may be a word such as 3D.
bool has_fortran_exponent(std::string_view text) {
  const std::size_t at = text.find_first_of("dD");
  if (at == 0 || at == std::string_view::npos || at + 1 == text.size()) return false;
  const bool sign = text[at + 1] == '+' || text[at + 1] == '-';
  return (sign || text.substr(0, at).find_first_of(".,") != std::string_view::npos) &&
         text.find_first_not_of("0123456789", at + (sign ? 2 : 1)) == std::string_view::npos;
}

/// Returns the text as strtod reads it: with a point in place of a decimal comma, and e in place of Fortran's D.
std::string with_point(std::string_view text, const CsvFields& fields, bool& decimal_comma) {
  std::string number(text);
  const std::size_t comma = number.find(',');
  decimal_comma = fields.decimal_comma && comma != std::string::npos && number.find('.') == std::string::npos;
  if (decimal_comma) number[comma] = '.';
  if (const std::size_t exponent = number.find_first_of("dD"); exponent != std::string::npos) number[exponent] = 'e';
  return number;
}

/// Returns whether the text is a code of missing values; codes that are numbers compare as numbers.
bool is_missing(std::string_view text, const CsvFields& fields) {
  if (std::find(missing_codes.begin(), missing_codes.end(), text) != missing_codes.end()) return true;
  if (fields.missing.empty()) return false;
  if (std::find(fields.missing.begin(), fields.missing.end(), text) != fields.missing.end()) return true;
  bool decimal_comma = false;
  double value = 0, code = 0;
  return looks_like_number(text) && parse(with_point(text, fields, decimal_comma), value) &&
         std::any_of(fields.missing.begin(), fields.missing.end(), [&](const std::string& one) {
           return parse(with_point(one, fields, decimal_comma), code) && code == value;
         });
}

}  // namespace

bool looks_like_number(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  for (const char* word : {"inf", "Inf", "INF", "infinity", "Infinity"})
    if (text == word) return true;
  if (has_fortran_exponent(text)) text = text.substr(0, text.find_first_of("dD"));
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
  bool decimal_comma = false;
  const std::string point = with_point(text, fields, decimal_comma);
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
