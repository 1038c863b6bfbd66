#pragma once

#include <tesela/runtime/graph.hpp>

namespace tesela {

/// With GPUs a column of tiles (or a row) stays on one.
inline Priority on_column(index_t j, int value = 0) {
  Priority priority = on_gpu_number(static_cast<std::size_t>(j));
  priority.value = value;
  return priority;
}

}  // namespace tesela
