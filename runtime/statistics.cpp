#include "runtime/runtime.hpp"
#include "runtime/starpu.hpp"

#include <algorithm>

namespace tesela {
namespace {

double seconds(timespec t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }

std::string node_name(int node) {
  char name[64];
  starpu_memory_node_get_name(static_cast<unsigned>(node), name, sizeof name);
  return name;
}

}  // namespace

Statistics Runtime::statistics() {
  Statistics result;
  for (std::size_t w = 0; w < state_->workers.size(); ++w) {
    WorkerUse use{state_->workers[w], 0, 0, 0, 0, 0, {}};
    for (detail::CodeletImpl* codelet : detail::all_codelets()) {
      // Without profiling StarPU still counts tasks per worker, in the codelet.
      const auto& measured = codelet->uses[w];
      const auto tasks = state_->profile ? measured.tasks.load() : codelet->starpu()->per_worker_stats[w];
      if (tasks == 0) continue;
      // Kernels of one name, for float and double say, count as one.
      auto kernel = std::find_if(use.kernels.begin(), use.kernels.end(),
                                 [&](const KernelUse& k) { return k.kernel == codelet->name(); });
      if (kernel == use.kernels.end()) kernel = use.kernels.insert(kernel, {codelet->name(), 0, 0});
      kernel->tasks += static_cast<index_t>(tasks);
      kernel->busy_seconds += 1e-9 * static_cast<double>(measured.nanoseconds.load());
      use.tasks += static_cast<index_t>(tasks);
    }
    if (state_->profile) {
      starpu_profiling_worker_info info{};
      starpu_profiling_worker_get_info(static_cast<int>(w), &info);
      use.busy_seconds = seconds(info.executing_time);
      use.waiting_seconds = seconds(info.waiting_time) - state_->waiting_before[w];
      use.sleeping_seconds = seconds(info.sleeping_time);
      use.total_seconds = seconds(info.total_time);
    }
    result.workers.push_back(std::move(use));
  }
  for (int bus = 0; state_->profile && bus < starpu_bus_get_count(); ++bus) {
    starpu_profiling_bus_info info{};
    starpu_bus_get_profiling_info(bus, &info);
    if (info.transfer_count > 0)
      result.links.push_back({node_name(starpu_bus_get_src(bus)), node_name(starpu_bus_get_dst(bus)),
                              info.transfer_count, static_cast<double>(info.transferred_bytes)});
  }
  return result;
}

void Runtime::reset_statistics() {
  for (detail::CodeletImpl* codelet : detail::all_codelets())
    for (std::size_t w = 0; w < STARPU_NMAXWORKERS; ++w) {
      codelet->uses[w].tasks = 0;
      codelet->uses[w].nanoseconds = 0;
      codelet->starpu()->per_worker_stats[w] = 0;
    }
  if (!state_->profile) return;
  state_->waiting_before.resize(state_->workers.size());
  for (std::size_t w = 0; w < state_->workers.size(); ++w) {
    starpu_profiling_worker_info info{};
    starpu_profiling_worker_get_info(static_cast<int>(w), &info);
    state_->waiting_before[w] = seconds(info.waiting_time);
  }
  starpu_profiling_bus_info ignored{};
  for (int bus = 0; bus < starpu_bus_get_count(); ++bus) starpu_bus_get_profiling_info(bus, &ignored);
}

}  // namespace tesela
