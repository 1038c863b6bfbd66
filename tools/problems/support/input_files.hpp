#pragma once

#include <tesela/runtime/types.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// A file that an option names, and the shape in its header.
struct InputFile {
  const char* option;
  const std::string& path;
  Shape shape = {};
};

/// Reads the shapes where all are given, answers whether they are. Throws ArgumentError where only some are.
bool probe_all(const char* command, std::vector<InputFile>& files);

/// Throw ArgumentError, with both numbers, unless the second file has as many rows or columns as the first has.
void require_rows_of(const char* command, const InputFile& first, const InputFile& second);
void require_columns_of(const char* command, const InputFile& first, const InputFile& second);

}  // namespace tesela::cli
