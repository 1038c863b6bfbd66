#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Entries of one stage: (row + q row_step, column + q column_step) for 0 <= q < count, counted from 0.
struct StageEntries {
  index_t row, column, row_step, column_step, count;
};

TESELA_BOTH inline StageEntries stage_entries(bool symmetric, index_t n, index_t stage) {
  if (symmetric) {  // a row of R: its diagonal entry, then the entries right of it
    const index_t row = (stage - 1) / 2;
    return stage % 2 == 1 ? StageEntries{row, row, 0, 0, 1} : StageEntries{row, row + 1, 0, 1, n - row - 1};
  }
  const index_t sum = stage - 1, top = sum < n ? 0 : sum - n + 1;  // row + column
  return {top, sum - top, 1, -1, (sum < n ? sum : n - 1) - top + 1};
}

}  // namespace tesela::kernels
