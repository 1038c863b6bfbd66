#include <tesela/runtime/internal/ranks.hpp>
#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/runtime.hpp>

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

void detail::RuntimeState::collect_profile() {
  if (!profile) return;
  times.resize(workers.size());
  for (std::size_t w = 0; w < workers.size(); ++w) {
    starpu_profiling_worker_info info{};
    starpu_profiling_worker_get_info(static_cast<int>(w), &info);
    Times& use = times[w];
    use.busy += seconds(info.executing_time);
    use.waiting += seconds(info.waiting_time) - use.waiting_before;
    use.sleeping += seconds(info.sleeping_time);
    use.total += seconds(info.total_time);
    use.waiting_before = seconds(info.waiting_time);
  }
  collect_links();
}

void detail::RuntimeState::collect_links() {
  for (int bus = 0; bus < starpu_bus_get_count(); ++bus) {
    const auto b = static_cast<std::size_t>(bus);
    if (b == links.size()) links.push_back({node_name(starpu_bus_get_src(bus)), node_name(starpu_bus_get_dst(bus))});
    starpu_profiling_bus_info info{};
    starpu_bus_get_profiling_info(bus, &info);
    links[b].transfers += info.transfer_count;
    links[b].bytes += static_cast<double>(info.transferred_bytes);
  }
}

Statistics Runtime::statistics() {
  const std::lock_guard lock(state_->statistics_mutex);
  state_->collect_profile();
  Statistics result;
  for (std::size_t w = 0; w < state_->workers.size(); ++w) {
    WorkerUse use{state_->workers[w], 0, 0, 0, 0, 0, {}};
    for (detail::CodeletImpl* codelet : detail::all_codelets()) {
      // Without profiling, StarPU still counts tasks per worker in the codelet.
      const auto& measured = codelet->uses[w];
      const auto tasks = state_->profile ? measured.tasks.load() : codelet->starpu()->per_worker_stats[w];
      if (tasks == 0) continue;
      // Kernels of one name (for float and double) are counted together.
      auto kernel = std::find_if(use.kernels.begin(), use.kernels.end(),
                                 [&](const KernelUse& k) { return k.kernel == codelet->name(); });
      if (kernel == use.kernels.end()) kernel = use.kernels.insert(kernel, {codelet->name(), 0, 0});
      kernel->tasks += static_cast<index_t>(tasks);
      kernel->busy_seconds += 1e-9 * static_cast<double>(measured.nanoseconds.load());
      use.tasks += static_cast<index_t>(tasks);
    }
    if (state_->profile) {
      const auto& times = state_->times[w];
      use.busy_seconds = times.busy;
      use.waiting_seconds = times.waiting;
      use.sleeping_seconds = times.sleeping;
      use.total_seconds = times.total;
    }
    result.workers.push_back(std::move(use));
  }
  for (const LinkUse& link : state_->links)
    if (link.transfers > 0) result.links.push_back(link);
  return result;
}

void Runtime::reset_statistics() {
  const std::lock_guard lock(state_->statistics_mutex);
  for (detail::CodeletImpl* codelet : detail::all_codelets())
    for (std::size_t w = 0; w < STARPU_NMAXWORKERS; ++w) {
      codelet->uses[w].tasks = 0;
      codelet->uses[w].nanoseconds = 0;
      codelet->starpu()->per_worker_stats[w] = 0;
    }
  state_->collect_profile();
  for (auto& times : state_->times) times = {0, 0, 0, 0, times.waiting_before};
  state_->links.clear();
  state_->bytes_sent = state_->bytes_received = 0;
  if (detail::simulates) detail::reset_simulated_times();
}

std::vector<RankUse> Runtime::rank_statistics() {
  index_t tasks = 0;
  for (const WorkerUse& use : statistics().workers) tasks += use.tasks;
  return detail::exchange_uses(*state_, tasks);
}

}  // namespace tesela
