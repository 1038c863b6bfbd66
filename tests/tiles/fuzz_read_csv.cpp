// libFuzzer target for the CSV reader; scripts/fuzz builds and runs it.

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/csv_table.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace tesela;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer requires this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  try {
    // Reads all columns with unique names, the first as labels.
    std::vector<std::string> names = read_csv_names(bytes, "fuzz");
    require(!names.empty());
    if (names.size() > 20) names.resize(20);
    std::vector<ColumnRequest> wanted{{names[0], ColumnKind::level}};
    for (std::size_t k = 1; k < names.size(); ++k) wanted.push_back({names[k], ColumnKind::either});
    const Table table = read_csv(bytes, "fuzz", wanted);
    require(table.columns.size() == names.size() && static_cast<index_t>(table.lines.size()) == table.rows);
    for (const auto& column : table.columns) {
      require(static_cast<index_t>(column.size()) == table.rows);
      for (const double x : column) require(!std::isinf(x));
    }
  } catch (const FileError& error) {
    require(std::string(error.what()).starts_with("fuzz: "));
  }
  return 0;
}
