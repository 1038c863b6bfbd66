#pragma once

#include <tesela/runtime/types.hpp>

#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Named columns of numbers of one length. NaN marks a missing value.
struct Table {
  std::vector<std::string> names = {};
  std::vector<std::vector<double>> columns = {};
  std::vector<index_t> lines = {};  ///< number of the line at which each row begins, from 1; empty without a file
  index_t rows = 0;

  /// Returns the index of the column with this name, or -1.
  index_t find(const std::string& name) const;
};

// CSV files (RFC 4180) with a header line, in memory that holds the whole file; messages begin with `name`. The delimiter
// is the comma, semicolon or tab that is most frequent in the header. Quotes may surround fields that contain delimiters
// and line ends; lines end in LF or CR LF; a byte-order mark and empty lines are skipped. A field that is empty, NA, NaN
// or a point is a missing value.

/// Returns the names in the header. Throws FileError if the file is not CSV.
std::vector<std::string> read_csv_names(std::span<const char> bytes, const std::string& name);

/// Reads the columns with these names, in this order; other columns may hold anything.
///
/// labels   names of columns of text: each distinct text becomes a number 0, 1, … in the order of first appearance.
/// Throws   FileError, with line and column, if the file is malformed, a row's length differs from the header's, a
///          wanted name is missing from the header or occurs twice, or a field of a wanted column is neither finite nor
///          missing.
Table read_csv(std::span<const char> bytes, const std::string& name, const std::vector<std::string>& wanted,
               const std::vector<std::string>& labels = {});

}  // namespace tesela
