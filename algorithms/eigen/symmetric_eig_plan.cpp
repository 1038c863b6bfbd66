#include <tesela/algorithms/eigen/internal/eig_plan.hpp>
#include <tesela/algorithms/eigen/internal/two_stage.hpp>
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>
#include <tesela/algorithms/support/run_concurrently.hpp>
#include <tesela/codelets/eigen/sytrd.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cstdlib>

namespace tesela {
namespace {

/// Returns the plan of LAPACK's syevd, whose work space with vectors is two matrices.
MemoryPlan plan_library(const WorkerCounts& workers, index_t n, std::size_t element, index_t wanted, bool vectors) {
  MemoryPlan plan({"syevd", "vectors"}, workers.gpus, element);
  const Shape matrix{n, n};
  plan.hold({MemoryPlan::host, matrix, 1, 0, 1});
  plan.hold({MemoryPlan::host, matrix, vectors ? 3.0 : 1.0, 0, 0});
  if (!vectors) return plan;
  plan.hold({MemoryPlan::host, matrix, 1, 1, 1});
  plan.hold({MemoryPlan::host, {n, wanted}, 1, 1, 1});
  return plan;
}

detail::EigShape shape_of(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options) {
  detail::EigShape shape{.workers = workers, .n = n, .block = options.block, .vectors = options.vectors};
  shape.wanted = options.positions ? options.positions->size() : n;
  shape.x_columns = std::max<index_t>(eigenvectors_tile(workers, n, shape.wanted), 1);
  return shape;
}

/// Returns the plan of syevd as one task. cuSOLVER's work space is assumed to equal LAPACK's.
MemoryPlan plan_one_task(const WorkerCounts& workers, index_t n, std::size_t element, index_t a_columns, index_t wanted,
                         bool vectors) {
  MemoryPlan plan({"syevd", "vectors"}, workers.gpus, element);
  const Shape matrix{n, n}, of_vectors{n, vectors ? wanted : 0};
  const double work = vectors ? 2 : 0;
  plan.hold({MemoryPlan::host, matrix, a_columns < n ? 2.0 : 1.0, 0, 1});
  if (workers.gpus == 0) {
    plan.hold({MemoryPlan::host, matrix, work, 0, 0});
    plan.hold({MemoryPlan::host, of_vectors, 1, 1, 1});
    return plan;
  }
  plan.hold({0, matrix, vectors ? 3.0 : 2.0, 0, 1});  // with a copy of A, and for vectors I - X^T X
  plan.hold({0, {n * n, 1}, work, 0, 1});
  plan.hold({0, of_vectors, 1, 1, 1});
  plan.task((1 + work) * static_cast<double>(n) * static_cast<double>(n));
  return plan;
}

/// Blocks are counted up to this order (16 TiB in single precision).
constexpr index_t largest_counted = index_t{1} << 21;

/// Returns the plan of A and its eigenvectors alone.
MemoryPlan least_plan(const WorkerCounts& workers, index_t n, std::size_t element, const SymmetricEigOptions& options) {
  MemoryPlan plan({"at least"}, workers.gpus, element);
  plan.hold({MemoryPlan::host, {n, n}});
  if (options.vectors) plan.hold({MemoryPlan::host, {n, options.positions ? options.positions->size() : n}});
  plan.mark_lower_bound();
  return plan;
}

}  // namespace

EigMethod eig_method(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options) {
  if (options.method != EigMethod::automatic) return options.method;
  if (workers.gpus > 0)
    return options.band == 0 && n <= kernels::largest_sytrd && workers.gpus_on_all_ranks ? EigMethod::one_stage
                                                                                         : EigMethod::two_stage;
  return n < (options.vectors ? 2200 : 1700) ? EigMethod::lapack : EigMethod::two_stage;  // measured on two cores
}

MemoryPlan plan_symmetric_eig(const WorkerCounts& workers, index_t n, std::size_t element,
                              const SymmetricEigOptions& options, index_t a_columns) {
  require(n >= 0, "plan_symmetric_eig", "n", n);
  if (n > largest_counted) return least_plan(workers, n, element, options);
  detail::EigShape shape = shape_of(workers, n, options);
  if (eig_method(workers, n, options) == EigMethod::lapack)
    return plan_library(workers, n, element, shape.wanted, options.vectors);
  if (eig_method(workers, n, options) == EigMethod::one_task)
    return plan_one_task(workers, n, element, a_columns > 0 ? a_columns : eig_tile(workers, n, options).nb,
                         shape.wanted, options.vectors);
  const index_t band = eig_method(workers, n, options) == EigMethod::one_stage ? 1
                       : options.band > 0                                      ? options.band
                                                                               : band_half_width(workers);
  shape.half_width = std::clamp<index_t>(band, 1, std::max<index_t>(n - 1, 1));
  shape.a_columns = std::min(std::max<index_t>(n, 1), a_columns > 0 ? a_columns : eig_tile(workers, n, options).nb);
  MemoryPlan plan({"to a band", "chase", "tridiagonal", "vectors"}, workers.gpus, element);
  plan.hold({MemoryPlan::host, {n, n}, 1, 0, plan.last_stage()});
  detail::plan_reduction(plan, shape);
  detail::plan_chase(plan, shape);
  detail::plan_tridiagonal(plan, shape);
  return plan;
}

MemoryPlan plan_tridiagonal_eig(const WorkerCounts& workers, index_t n, std::size_t element,
                                const SymmetricEigOptions& options) {
  MemoryPlan plan({"to a band", "chase", "tridiagonal", "vectors"}, workers.gpus, element);
  detail::plan_tridiagonal(plan, shape_of(workers, n, options));
  return plan;
}

void set_eig_job_streams(RuntimeOptions& options, int cores) {
  const int gpus = options.gpus.value_or(count_cuda_devices());
  if (!options.streams_per_gpu && std::getenv("STARPU_NWORKER_PER_CUDA") == nullptr)
    options.streams_per_gpu = std::clamp(cores / (2 * std::max(gpus, 1)), 2, 8);
}

SymmetricEigOptions eig_job_options(const WorkerCounts& workers, index_t n, SymmetricEigOptions options) {
  const index_t whole = workers.gpus > 0 ? 511 : 2500;
  if (options.method == EigMethod::automatic) options.method = n <= whole ? EigMethod::one_task : EigMethod::two_stage;
  return options;
}

int eig_jobs_at_once(const WorkerCounts& workers, int streams_per_gpu, const MemoryPlan& plan, const MemoryRoom& room) {
  const int wanted = workers.gpus > 0 ? workers.gpus * std::max(streams_per_gpu, 1) : workers.cpus;
  double most = wanted;
  if (const double host = plan.peak(MemoryPlan::host); host > 0) most = std::min(most, room.host / host);
  if (const double gpu = plan.gpu_peak(); gpu > 0) most = std::min(most, workers.gpus * std::max(1.0, room.gpu / gpu));
  return std::max(1, static_cast<int>(most));
}

void run_eig_jobs(Runtime& runtime, std::span<const index_t> orders, int at_once,
                  const std::function<void(std::size_t job, const GraphOptions& options)>& job) {
  const int gpus = at_once > 1 ? runtime.gpus() : 0;
  run_concurrently(orders, at_once, [&](std::size_t k, int thread) {
    GraphOptions options;
    if (gpus > 0) options.gpu = thread % gpus;
    job(k, options);
  });
}

}  // namespace tesela
