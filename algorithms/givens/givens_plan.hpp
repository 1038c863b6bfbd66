#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// What givens_qr of a matrix of this shape, with elements of this size, in tiles of nb columns, will hold in memory,
/// and form_q of so many columns after it: A and Q on the host included, which are the caller's. GPUs are taken to
/// have equal shares. Throws ArgumentError for options out of their range.
MemoryPlan plan_givens_qr(const WorkerCounts& workers, Shape a, std::size_t element, index_t nb, index_t q_columns,
                          const GivensOptions& options = {});

}  // namespace tesela
