#pragma once

#include <tesela/tiles/io/csv_table.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The properties that all fields of a CSV file share.
struct CsvFields {
  std::vector<std::string> missing = {};  ///< further codes of missing values
  bool decimal_comma = false;             ///< whether commas may be decimal
  char decimal_mark = 0;                  ///< of the first number that has one
  index_t mark_line = 0;                  ///< line of that number
};

/// A column that is being read.
class CsvColumn {
 public:
  explicit CsvColumn(ColumnRequest request) : request_(std::move(request)), kind_(request_.kind) {}

  /// Adds a field, whose text ends with a zero byte. Returns an error message, or an empty text.
  std::string add(std::string_view text, index_t line, CsvFields& fields);
  const std::string& name() const { return request_.name; }
  std::vector<double> values() && { return std::move(values_); }
  std::vector<std::string> levels() && { return std::move(levels_); }

 private:
  std::string add_number(std::string_view text, index_t line, CsvFields& fields);
  void add_level(std::string_view text);

  ColumnRequest request_;
  ColumnKind kind_;  ///< either: no field yet decided
  std::vector<double> values_;
  std::vector<std::string> levels_;
  std::map<std::string, double, std::less<>> numbers_;  // of the levels
};

/// Returns whether the text is a number or looks like one: digits with signs, marks and exponents, or an infinity.
bool looks_like_number(std::string_view text);

}  // namespace tesela
