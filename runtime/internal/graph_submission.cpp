#include <tesela/runtime/internal/graph_impl.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// Submits tasks to StarPU at once, or holds them back until the lengths of their paths to the end are known.

namespace tesela {

void Graph::Impl::submit(detail::OwnedTask task) const {
  task->priority = std::clamp(task->priority, lowest_priority, highest_priority);
  ++tasks->unfinished;
  if (starpu_task_submit(task.get()) == 0) {
    static_cast<void>(task.release());  // StarPU destroys it after it has run
  } else {
    --tasks->unfinished;
    throw NoWorkerError(std::string("kernel '") + task->cl->name + "': StarPU found no worker for it among " +
                        detail::describe_workers(*state));
  }
}

void Graph::Impl::submit_deferred() {
  if (!options.longest_path_priorities) return;
  const std::lock_guard lock(held_mutex);
  if (held.empty()) return;
  const auto count = static_cast<std::size_t>(
      std::count_if(held.begin(), held.end(), [](const Held& h) { return h.task != nullptr; }));
  const std::vector<double> path = record->path_to_end(record->size() - count);
  const double longest = path.empty() ? 1 : *std::max_element(path.begin(), path.end());
  std::size_t next = 0;
  for (Held& h : std::exchange(held, {})) {
    if (h.task != nullptr) {
      h.task->priority = static_cast<int>(path[next++] / longest * tesela::highest_priority);
      submit(std::move(h.task));
    } else {
      h.hint();
    }
  }
}

void Graph::Impl::in_order(detail::Data& data, bool writes, std::function<void()> hint) {
  data.submit_deferred(writes, id);
  const std::lock_guard lock(held_mutex);
  if (held.empty()) return hint();
  data.hold(id, writes);  // lets the data's destructor submit the hint
  held.push_back({nullptr, std::move(hint)});
}

}  // namespace tesela
