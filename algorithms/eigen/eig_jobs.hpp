#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// How symmetric_eig should solve one of several problems at a time, where `options` leaves the method open: whole, as
/// one task, up to the order from which on tasks of several problems fill the machine better.
SymmetricEigOptions suitable_job_options(const WorkerCounts& workers, index_t n, SymmetricEigOptions options);

/// How many streams of each GPU should have problems at a time: each has a thread of its own, and half of the cores are
/// left for what tasks on cores do. From 2 to 8.
int suitable_job_streams(int cores, int gpus);

/// How many of these problems to solve at a time: one for each core, or for each stream of each GPU, but not more than
/// have room beside each other, of which the largest takes `plan`.
int suitable_jobs_at_once(const WorkerCounts& workers, int streams_per_gpu, const MemoryPlan& plan,
                          const MemoryRoom& room);

}  // namespace tesela
