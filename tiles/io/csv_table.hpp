#pragma once

#include <tesela/runtime/types.hpp>

#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Columns of numbers with names, all of one length. Where a value is missing stands NaN.
struct Table {
  std::vector<std::string> names = {};
  std::vector<std::vector<double>> columns = {};
  std::vector<index_t> lines =
      {};  ///< of the file, where each row begins, counted from 1; empty: row i stands in i + 1
  index_t rows = 0;

  /// The column of this name, or -1.
  index_t find(const std::string& name) const;
};

// CSV files (RFC 4180) with a header line: comma, semicolon or tab between fields, whichever the header has most of;
// quotes may surround fields, with commas and line ends in them; LF or CR LF; a byte-order mark and empty lines are
// passed over. A value is missing where a field is empty, NA, NaN or a point.

/// The names in the header. Throws FileError for files that are no CSV.
std::vector<std::string> read_csv_names(const std::string& path);

/// The columns of these names, in this order; the others may hold anything. Of those whose names are in `labels` each
/// text is a number, 0, 1 ... in the order of their first rows. Throws FileError, with line and column,
/// where the file is malformed, a row is shorter or longer than the header, a wanted name is not in the header or twice
/// in it, or a field of a wanted column is neither a finite number nor missing.
Table read_csv(const std::string& path, const std::vector<std::string>& wanted,
               const std::vector<std::string>& labels = {});

/// Both from memory that holds the whole file; `name` stands for the path in messages.
std::vector<std::string> read_csv_names_bytes(std::span<const char> bytes, const std::string& name);
Table read_csv_bytes(std::span<const char> bytes, const std::string& name, const std::vector<std::string>& wanted,
                     const std::vector<std::string>& labels = {});

}  // namespace tesela
