#pragma once

#include <tesela/runtime/graph.hpp>

#include <algorithm>

namespace tesela {

/// Returns a priority that keeps a column (or row) of tiles on one GPU, if there are GPUs.
inline Priority on_column(index_t j, int value = 0) {
  Priority priority = on_gpu_number(static_cast<std::size_t>(j));
  priority.value = value;
  return priority;
}

/// Returns the priority of the update of column (or row) i in step k: the next panel first, then in order of i.
inline int update_priority(index_t i, index_t k, index_t steps) {
  return i == k + 1 ? highest_priority - 1 : static_cast<int>(std::min<index_t>(steps - i, 1000));
}

}  // namespace tesela
