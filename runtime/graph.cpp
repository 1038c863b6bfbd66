#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/graph_impl.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tesela {
namespace {

std::atomic<std::uint64_t> next_graph_id{1};

}  // namespace

Graph::Graph(Runtime& runtime, GraphOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->id = next_graph_id++;
  impl_->runtime = &runtime;
  impl_->state = runtime.state();
  impl_->options = std::move(options);
  if (impl_->options.record || impl_->options.longest_path_priorities || impl_->state->recording)
    impl_->record.emplace();
  impl_->lowest_priority = starpu_sched_get_min_priority();
  impl_->highest_priority = starpu_sched_get_max_priority();
  impl_->tasks->runtime = impl_->state.get();
  {
    const std::lock_guard lock(impl_->state->mutex);
    impl_->state->graphs.insert(impl_->tasks.get());
  }
  if (impl_->options.longest_path_priorities) {
    const std::lock_guard lock(impl_->state->holding_mutex);
    impl_->state->holding.emplace(impl_->id, [impl = impl_.get()] { impl->submit_deferred(); });
    ++impl_->state->deferring_graph_count;
  }
}

Graph::~Graph() {
  detail::RuntimeState& state = *impl_->state;
  if (state.alive) {
    try {
      impl_->submit_deferred();
    } catch (const std::exception&) {
      // wait() would have reported it, but nobody called it.
    }
    state.wait_for(*impl_->tasks, [this] { impl_->report_blocked(); });
    const std::uint64_t seen = impl_->tasks->stops_seen.exchange(detail::GraphTasks::no_tasks);
    if (seen != detail::GraphTasks::no_tasks) {
      const bool drained =
          detail::mark_stops_reported() > seen && state.messages == nullptr;  // ranks do not agree here
      if (drained) impl_->part->lose();
      impl_->part->over = true;
    }
    for (Impl::StatusSlot& slot : impl_->statuses) {
      const auto& writer = slot.data->writer();
      const bool ours = slot.data->has_value() && (writer == nullptr || writer->tasks == impl_->tasks);
      state.statuses.give_back(std::move(slot.data), impl_->statuses_at_home && ours, state.messages != nullptr);
    }
  }
  if (impl_->options.longest_path_priorities) {
    const std::lock_guard lock(state.holding_mutex);
    state.holding.erase(impl_->id);
    --state.deferring_graph_count;
  }
  const std::lock_guard lock(state.mutex);
  state.graphs.erase(impl_->tasks.get());
}

void Graph::submit() {
  impl_->require_alive();
  impl_->submit_deferred();
}

Status Graph::wait() {
  submit();
  if (impl_->state->messages != nullptr) impl_->require_same_graph();
  // Starts all copies while the last tasks run; copied in turn, they would take longer than a short task.
  std::vector<index_t>& written = impl_->written_statuses;
  std::sort(written.begin(), written.end());
  for (const index_t k : written) prefetch(*impl_->statuses[static_cast<std::size_t>(k)].data, -1);
  impl_->state->wait_for(*impl_->tasks, [this] { impl_->report_blocked(); });
  impl_->blocked.clear();
  const std::uint64_t seen =
      std::min(detail::stops_reported.load(), impl_->tasks->stops_seen.exchange(detail::GraphTasks::no_tasks));
  detail::mark_stops_reported();
  const std::shared_ptr<detail::TaskBatch> part = std::move(impl_->part);
  try {
    const Status status = impl_->outcome(seen);
    if (part != nullptr) part->over = true;
    return status;
  } catch (...) {
    if (part != nullptr) part->lose();
    throw;
  }
}

Status Graph::Impl::outcome(std::uint64_t seen) {
  Status status;
  index_t first = -1;
  for (const index_t k : written_statuses) {
    StatusSlot& slot = statuses[static_cast<std::size_t>(k)];
    slot.written = false;
    const int value = detail::read_and_clear_status(*slot.data);
    if (value == 0 || first >= 0) continue;
    status.info = value > 0 ? value + slot.offset : value;
    first = k;
  }
  written_statuses.clear();
  statuses_at_home = true;
  if (state->messages != nullptr) return agree(status, first, detail::stop_reason_since(seen));
  detail::throw_if_stopped_since(seen);
  return status;
}

Tile<int> Graph::status(index_t offset) {
  impl_->require_alive();
  impl_->statuses.push_back({impl_->state->statuses.take(*impl_->runtime), offset});
  detail::Data& data = *impl_->statuses.back().data;
  data.status_number = std::ssize(impl_->statuses) - 1;
  return Tile<int>(data);
}

detail::Data& Graph::scratch_data(Shape shape, std::size_t element_size, index_t which) {
  impl_->require_alive();
  return impl_->scratch
      .try_emplace({shape.rows, shape.cols, element_size, which}, *impl_->runtime, nullptr, shape, shape.rows,
                   element_size, detail::Data::OnRelease::drop)
      .first->second;
}

void Graph::prefetch(detail::Data& data, int gpu) {
  impl_->require_alive();
  const auto& nodes = impl_->state->gpu_nodes;
  if (!data.has_value() || (gpu >= 0 && nodes.empty())) return;
  if (impl_->state->messages != nullptr && !data.whereabouts().at(impl_->state->rank)) return;
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  if (gpu >= 0) {
    const unsigned node = nodes[static_cast<std::size_t>(gpu) % nodes.size()];
    return impl_->in_order(data, false, [=] { starpu_data_prefetch_on_node(handle, node, 1); });
  }
  // An acquisition waits for earlier tasks; StarPU's own prefetch would overtake them.
  impl_->in_order(data, false, [handle, tasks = impl_->tasks.get()] { detail::bring_home(handle, *tasks); });
}

void Graph::invalidate(detail::Data& data) {
  impl_->require_alive();
  if (impl_->state->messages == nullptr) {
    auto* handle = static_cast<starpu_data_handle_t>(data.handle());
    impl_->in_order(data, true, [=] { starpu_data_invalidate_submit(handle); });
  } else {
    data.forgotten();
  }
  data.set_value(false);
  data.set_writer(nullptr);
}

Runtime& Graph::runtime() const {
  impl_->require_alive();
  return *impl_->runtime;
}

int Graph::gpu() const { return impl_->options.gpu; }

index_t Graph::tasks() const {
  impl_->require_alive();
  return impl_->bounds.tasks;
}

Bounds Graph::bounds() const {
  impl_->require_alive();
  Bounds bounds = impl_->bounds;
  if (impl_->record)
    impl_->record->time(bounds, *impl_->state);
  else
    bounds.untimed = bounds.tasks;
  return bounds;
}

void Graph::write_dot(const std::string& path, bool status_edges) const {
  impl_->require_alive();
  require(impl_->record.has_value(), "Graph::write_dot", "options.record", "false: the graph was not recorded");
  impl_->record->write_dot(path, impl_->options.name, status_edges);
}

}  // namespace tesela
