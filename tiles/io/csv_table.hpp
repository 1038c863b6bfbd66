#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// The reading of a column's fields.
enum class ColumnKind : std::uint8_t {
  number,  ///< numbers; text is an error
  level,   ///< each distinct text is a level
  either,  ///< numbers if the first field is one, otherwise levels; a mixture is an error
};

/// A column to be read.
struct ColumnRequest {
  std::string name;  ///< name in the header
  ColumnKind kind = ColumnKind::number;
};

/// Named columns of one length. NaN marks a missing value.
struct Table {
  std::vector<std::string> names = {};                ///< one per column
  std::vector<std::vector<double>> columns = {};      ///< numbers, or the numbers of levels, from 0
  std::vector<std::vector<std::string>> levels = {};  ///< texts of each column's levels; missing or empty: numbers
  std::vector<index_t> lines = {};  ///< number of the line at which each row begins, from 1; empty without a file
  index_t rows = 0;                 ///< number of rows
  bool ordered = false;             ///< whether the order of the levels has a meaning, the first one being the base

  /// Returns the index of the column with this name, or -1.
  index_t find(const std::string& name) const;
  /// Returns the texts of a column's levels; empty for numbers.
  const std::vector<std::string>& levels_of(index_t column) const;
};

// CSV files (RFC 4180) with a header line, in memory that holds the whole file; messages begin with `name`. A first
// line `sep=;` names the delimiter; otherwise it is the comma, semicolon or tab that is most frequent in the header.
// Without commas between fields, numbers may have a decimal comma. Quotes may surround fields that contain delimiters
// and line ends; lines end in LF or CR LF; a byte-order mark and empty lines are skipped. If lines have one field more
// than the header, the first is R's row name, which no other line has. Missing are empty fields, NA, N/A, n/a, #N/A,
// NaN, nan, null, NULL, <NA>, point, minus, and the codes of the caller: the code -999 matches -999.0 as well.
// Exponents may be Fortran's, 1.25D-02.

/// Returns the names in the header. Throws FileError if the file is not CSV.
std::vector<std::string> read_csv_names(std::span<const char> bytes, const std::string& name);

/// Reads these columns, in this order; other columns may hold anything.
///
/// missing  further codes of missing values.
/// Throws   FileError, with line and column, if the file is malformed, a row's length differs from the header's, a
///          wanted name is missing from the header or occurs twice, a field of a wanted column has another kind, or
///          decimal commas and points are mixed.
Table read_csv(std::span<const char> bytes, const std::string& name, const std::vector<ColumnRequest>& wanted,
               const std::vector<std::string>& missing = {});

}  // namespace tesela
