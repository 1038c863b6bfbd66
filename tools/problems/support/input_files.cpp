#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {
namespace {

void require_equal(const char* command, const InputFile& first, index_t has, const InputFile& second, index_t is,
                   const char* what) {
  require(is == has, command, second.option,
          fmt::format("{} has {} {}; {} has {}", second.path, is, what, first.path, has));
}

}  // namespace

bool probe_all(const char* command, std::vector<InputFile>& files) {
  const auto given = [](const InputFile& file) { return !file.path.empty(); };
  if (std::none_of(files.begin(), files.end(), given)) return false;
  if (!std::all_of(files.begin(), files.end(), given)) {
    std::string others;
    for (std::size_t k = 1; k < files.size(); ++k)
      others += (k == 1 ? "" : k + 1 < files.size() ? ", " : " and ") + std::string(files[k].option);
    throw ArgumentError(command, files.front().option, (files.size() == 2 ? "and " : "") + others + " belong together");
  }
  for (InputFile& file : files) file.shape = probe_matrix(file.path).shape;
  return true;
}

void require_rows_of(const char* command, const InputFile& first, const InputFile& second) {
  require_equal(command, first, first.shape.rows, second, second.shape.rows, "rows");
}

void require_columns_of(const char* command, const InputFile& first, const InputFile& second) {
  require_equal(command, first, first.shape.cols, second, second.shape.cols, "columns");
}

}  // namespace tesela::cli
