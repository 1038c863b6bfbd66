#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Returns row number `row`, counted from 1, as a status tile holds it: a number beyond int becomes the largest int.
TESELA_BOTH inline int row_status(index_t row) {
  constexpr index_t largest = 0x7fffffff;
  return static_cast<int>(row < largest ? row : largest);
}

}  // namespace tesela::kernels
