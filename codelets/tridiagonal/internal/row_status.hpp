#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Row number `row`, counted from 1, as a status tile holds it: what an int cannot count becomes the largest it can.
TESELA_BOTH inline int row_status(index_t row) {
  constexpr index_t largest = 0x7fffffff;
  return static_cast<int>(row < largest ? row : largest);
}

}  // namespace tesela::kernels
