#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

#include <functional>
#include <span>

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
EigMethod eig_method(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options);

/// Sets the streams of each GPU for several problems at a time, from 2 to 8, unless the options or
/// STARPU_NWORKER_PER_CUDA set them, and a thread for each stream. Half of the cores are left for tasks on cores.
void set_eig_job_streams(RuntimeOptions& options, int cores);

/// Returns the options for symmetric_eig if several problems are solved concurrently and `options` leaves the method
/// open: one_task for small orders, at which tasks of several problems use the machine worse.
SymmetricEigOptions eig_job_options(const WorkerCounts& workers, index_t n, SymmetricEigOptions options);

/// Returns how many problems to solve concurrently: one per core or per stream of each GPU, but not more than fit into
/// memory, where the largest problem needs `plan`.
int eig_jobs_at_once(const WorkerCounts& workers, int streams_per_gpu, const MemoryPlan& plan, const MemoryRoom& room);

/// Solves several problems concurrently: calls job(k, options), which solves problem k with a graph of these options.
/// With several problems at a time each uses one GPU. Throws as run_concurrently.
void run_eig_jobs(Runtime& runtime, std::span<const index_t> orders, int at_once,
                  const std::function<void(std::size_t job, const GraphOptions& options)>& job);

}  // namespace tesela
