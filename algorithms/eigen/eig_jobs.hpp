#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

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
