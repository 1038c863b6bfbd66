#pragma once

#include <tesela/runtime/graph.hpp>

namespace tesela {

/// Returns a priority that keeps a column (or row) of tiles on one GPU, if there are GPUs.
inline Priority on_column(index_t j, int value = 0) {
  Priority priority = on_gpu_number(static_cast<std::size_t>(j));
  priority.value = value;
  return priority;
}

}  // namespace tesela
