#pragma once

#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// What qr of a matrix of this shape, with elements of this size, in these tiles, will hold in memory, and form_q of
/// so many columns after it: A and Q on the host included, which are the caller's. GPUs are taken to have equal
/// shares. Throws ArgumentError for an unknown tree.
MemoryPlan plan_qr(const WorkerCounts& workers, Shape a, std::size_t element, TileShape tile, index_t q_columns,
                   const QrOptions& options = {});

}  // namespace tesela
