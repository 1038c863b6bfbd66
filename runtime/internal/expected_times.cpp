#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/simulation.hpp>

#include <cmath>

namespace tesela::detail {

ExpectedSeconds expected_seconds(CodeletImpl& codelet, std::uint32_t footprint, const RuntimeState& state) {
  if (simulates) {
    ExpectedSeconds simulated = simulated_seconds(codelet, footprint);
    if (state.cpus == 0) simulated.cpu = ExpectedSeconds::unknown;
    if (state.gpus == 0) simulated.gpu = ExpectedSeconds::unknown;
    return simulated;
  }
  ExpectedSeconds seconds;
  // StarPU loads a model's history at the first query for a task; a task of a codelet without tiles suffices.
  starpu_codelet model_only;
  starpu_codelet_init(&model_only);
  model_only.model = codelet.model();
  CallHeader call{&codelet, nullptr, footprint, 0};
  starpu_task task;
  starpu_task_init(&task);
  task.cl = &model_only;
  task.cl_arg = &call;
  for (std::size_t w = 0; w < state.workers.size(); ++w) {
    const bool gpu = state.workers[w].is_gpu;
    double& slot = gpu ? seconds.gpu : seconds.cpu;
    if (slot != ExpectedSeconds::unknown || !(gpu ? codelet.has_cuda() : codelet.has_cpu())) continue;
    auto* arch = starpu_worker_get_perf_archtype(static_cast<int>(w), STARPU_NMAX_SCHED_CTXS);
    const double us = starpu_task_expected_length(&task, arch, 0);
    if (std::isfinite(us) && us > 0) slot = us * 1e-6;
  }
  starpu_task_clean(&task);
  return seconds;
}

}  // namespace tesela::detail
