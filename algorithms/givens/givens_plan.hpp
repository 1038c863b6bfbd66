#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// Returns the memory that givens_qr needs for an m x n matrix, and form_q for `q_columns` columns after it.
///
/// element  bytes of an element.
/// nb       columns per tile.
/// Returns  memory on the host, including A and Q, and on GPUs, which are assumed to have equal shares.
/// Throws   ArgumentError for options out of range.
MemoryPlan plan_givens_qr(const WorkerCounts& workers, Shape a, std::size_t element, index_t nb, index_t q_columns,
                          const GivensOptions& options = {});

}  // namespace tesela
