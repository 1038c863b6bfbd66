#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// Returns the memory that qr needs for an m x n matrix, and form_q for `q_columns` columns after it.
///
/// element  bytes of an element.
/// tile     tile shape of A.
/// Returns  memory on the host, including A and Q, and on GPUs, which are assumed to have equal shares.
/// Throws   ArgumentError for an unknown tree.
MemoryPlan plan_qr(const WorkerCounts& workers, Shape a, std::size_t element, TileShape tile, index_t q_columns,
                   const QrOptions& options = {});

}  // namespace tesela
