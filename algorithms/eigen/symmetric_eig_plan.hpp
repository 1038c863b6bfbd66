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

/// Returns the options for symmetric_eig if several problems are solved concurrently and `options` leaves the method
/// open: one_task for small orders, at which tasks of several problems use the machine worse.
SymmetricEigOptions suitable_job_options(const WorkerCounts& workers, index_t n, SymmetricEigOptions options);

/// Returns how many streams of each GPU should have problems, from 2 to 8. Each stream has a thread; half of the cores
/// are left for tasks on cores.
int suitable_job_streams(int cores, int gpus);

/// Returns how many problems to solve concurrently: one per core or per stream of each GPU, but not more than fit into
/// memory, where the largest problem needs `plan`.
int suitable_concurrent_jobs(const WorkerCounts& workers, int streams_per_gpu, const MemoryPlan& plan,
                             const MemoryRoom& room);

}  // namespace tesela
