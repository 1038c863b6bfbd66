#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// Returns the memory that symmetric_eig needs for a matrix of order n, stage by stage.
///
/// element    bytes of an element.
/// a_columns  columns per tile of A; 0 selects them.
/// Returns    memory on the host, including A, and on GPUs. If it depends on the elements (deflation), the largest.
///            With options.low or options.high, all vectors are counted.
/// Throws     ArgumentError as symmetric_eig.
MemoryPlan plan_symmetric_eig(const WorkerCounts& workers, index_t n, std::size_t element,
                              const SymmetricEigOptions& options = {}, index_t a_columns = 0);

/// Returns the same for a tridiagonal matrix.
MemoryPlan plan_tridiagonal_eig(const WorkerCounts& workers, index_t n, std::size_t element,
                                const SymmetricEigOptions& options = {});

/// Returns the method of symmetric_eig for these options, unless A is a narrow band, or has several tiles although one
/// tile would hold it.
EigMethod suitable_eig_method(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options);

}  // namespace tesela
