#include <tesela/algorithms/eigen/eig_jobs.hpp>

#include <algorithm>

namespace tesela {

SymmetricEigOptions suitable_job_options(const WorkerCounts& workers, index_t n, SymmetricEigOptions options) {
  const index_t whole = workers.gpus > 0 ? 511 : 2500;
  if (options.method == EigMethod::automatic) options.method = n <= whole ? EigMethod::one_task : EigMethod::two_stage;
  return options;
}

int suitable_job_streams(int cores, int gpus) { return std::clamp(cores / (2 * std::max(gpus, 1)), 2, 8); }

int suitable_concurrent_jobs(const WorkerCounts& workers, int streams_per_gpu, const MemoryPlan& plan,
                             const MemoryRoom& room) {
  const int wanted = workers.gpus > 0 ? workers.gpus * std::max(streams_per_gpu, 1) : workers.cpus;
  double most = wanted;
  if (const double host = plan.peak(MemoryPlan::host); host > 0) most = std::min(most, room.host / host);
  if (const double gpu = plan.gpu_peak(); gpu > 0) most = std::min(most, workers.gpus * std::max(1.0, room.gpu / gpu));
  return std::max(1, static_cast<int>(most));
}

}  // namespace tesela
