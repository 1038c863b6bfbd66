#include <tesela/algorithms/support/internal/column_blocks.hpp>
#include <tesela/runtime/variable.hpp>

#include <limits>

namespace tesela {
GpuRoom::GpuRoom(const Runtime& runtime) : gpus(runtime.gpus()), bytes(std::numeric_limits<double>::infinity()) {
  if (gpus > 0 && runtime.ranks() == 1) bytes = static_cast<double>(runtime.device_bytes()) / gpus;
}

std::vector<ColumnBlock> column_blocks(const GpuRoom& room, index_t columns,
                                       const std::function<double(index_t)>& bytes, double reserved) {
  constexpr int passing = 3;  // earlier columns on a GPU: in use, next, and on the way
  const index_t wanted = variable_or("TESELA_BLOCK_COLUMNS", 0, 1);
  const double gpus = std::max(room.gpus, 1);
  double all = 0;
  for (index_t j = 0; j < columns; ++j) all += bytes(j);
  if (columns == 0 || (wanted == 0 && all / gpus + reserved <= room.bytes)) return {{0, columns}};
  std::vector<ColumnBlock> blocks;
  for (index_t begin = 0; begin < columns; begin = blocks.back().end) {
    const double most = gpus * (room.bytes - reserved - passing * bytes(begin)) / 2;
    index_t end = begin + 1;
    for (double used = bytes(begin); end < columns && used + bytes(end) <= most; ++end) used += bytes(end);
    blocks.push_back({begin, wanted > 0 ? std::min(begin + wanted, columns) : end});
  }
  return blocks;
}

index_t width_in_memory(const GpuRoom& room, index_t rows, index_t suitable, index_t least) {
  constexpr index_t multiple = 32;
  const auto column = static_cast<double>(index_t{sizeof(double)} * std::max<index_t>(rows, 1) * least);
  if (room.bytes / column >= static_cast<double>(suitable)) return suitable;
  return std::max(static_cast<index_t>(room.bytes / column) / multiple * multiple, multiple);
}

}  // namespace tesela
