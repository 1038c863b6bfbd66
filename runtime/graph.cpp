#include "runtime/graph.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>

#include "runtime/graph_record.hpp"
#include "runtime/starpu.hpp"

namespace tesela {
namespace {

std::atomic<std::uint64_t> next_graph_id{1};

std::string describe(const detail::RuntimeState& state) {
  return std::to_string(state.cpus) + " CPU and " + std::to_string(state.gpus) + " CUDA workers";
}

}  // namespace

struct Graph::Impl {
  Runtime* runtime;
  std::shared_ptr<detail::RuntimeState> state;
  GraphOptions options;
  std::uint64_t id = next_graph_id++;
  Bounds bounds;
  int lowest_priority = 0, highest_priority = 0;
  std::optional<detail::GraphRecord> record;
  std::vector<starpu_task*> held;  // with longest_path_priorities: one for each recorded task not yet submitted

  struct StatusSlot {
    int value = 0;
    index_t offset = 0;
    std::optional<detail::Data> data;
  };
  std::deque<StatusSlot> statuses;
  std::map<std::tuple<index_t, index_t, std::size_t>, detail::Data> scratch;

  void require_alive() const {
    if (!state->alive) throw LifetimeError("Graph: its Runtime was destroyed; destroy graphs first");
  }
  /// Which kinds of worker may run this task, or NoWorkerError / EnvironmentError saying why none can.
  std::int32_t placement(const Insertion& task) const;
  void track(const Insertion& task);
  void submit(starpu_task* task) const;
  void submit_held();
};

std::int32_t Graph::Impl::placement(const Insertion& task) const {
  detail::CodeletImpl& codelet = *task.codelet;
  const bool cpu = codelet.has_cpu() && state->cpus > 0;
  bool cuda = codelet.has_cuda() && state->gpus > 0;
  if (!cpu && !cuda)
    throw NoWorkerError(std::string("kernel '") + codelet.name() + "' has " +
                        (codelet.has_cpu() ? "only a CPU variant" : "only a CUDA variant") + ", and this runtime has " +
                        describe(*state) + (codelet.has_cpu() ? ": set STARPU_NCPU to 1 or more"
                                                              : ": run where a GPU is visible and STARPU_NCUDA is not 0"));
  if (!cuda) return STARPU_CPU;
  std::size_t bytes = 0;
  for (const detail::Data* data : task.data) bytes += data->bytes();
  if (bytes <= state->smallest_device) return cpu ? STARPU_CPU | STARPU_CUDA : STARPU_CUDA;
  if (cpu) return STARPU_CPU;
  throw EnvironmentError(std::string("kernel '") + codelet.name() + "' needs " + std::to_string(bytes >> 20) +
                         " MiB for the tiles of one task, and the smallest GPU may use " +
                         std::to_string(state->smallest_device >> 20) +
                         " MiB: use smaller tiles, raise STARPU_LIMIT_CUDA_MEM, or allow CPU workers (STARPU_NCPU)");
}

/// Follows the dependences that this task implies: the longest path always, the edges when the graph is recorded.
void Graph::Impl::track(const Insertion& task) {
  std::string label;
  if (record) {
    for (std::size_t b = 0; b < task.data.size() && label.empty(); ++b)
      if (task.modes[std::min(b, task.modes.size() - 1)] != Mode::in) label = task.data[b]->label();
    record->add(*task.codelet, task.call->footprint, task.flops, std::move(label));
  }
  const auto mode_of = [&](std::size_t b) { return task.modes[std::min(b, task.modes.size() - 1)]; };
  double begin = 0;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    if (mode_of(b) == Mode::scratch) continue;
    begin = std::max(begin, task.data[b]->history.begin(id, mode_of(b)));
    if (record) record->depends_on(task.data[b]->history.previous);
  }
  const double end = begin + task.flops;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    if (mode_of(b) == Mode::scratch) continue;
    auto& history = task.data[b]->history;
    history.current_end = std::max(history.current_end, end);
    if (record) history.current.push_back(static_cast<std::uint32_t>(record->size() - 1));
  }
  ++bounds.tasks;
  bounds.work_flops += task.flops;
  bounds.path_flops = std::max(bounds.path_flops, end);
}

void Graph::Impl::submit(starpu_task* task) const {
  task->priority = std::clamp(task->priority, lowest_priority, highest_priority);
  const int status = starpu_task_submit(task);
  if (status != 0) {
    const std::string name = task->cl->name;
    task->destroy = 0;
    starpu_task_destroy(task);
    throw NoWorkerError("kernel '" + name + "': StarPU found no worker for it among " + describe(*state));
  }
}

void Graph::Impl::submit_held() {
  if (held.empty()) return;
  const std::vector<double> path = record->path_to_end();
  const double longest = *std::max_element(path.begin(), path.end());
  const std::size_t first = record->size() - held.size();
  const std::vector<starpu_task*> tasks = std::exchange(held, {});
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    tasks[t]->priority = static_cast<int>(path[first + t] / longest * 1e6);
    submit(tasks[t]);
  }
}

Graph::Graph(Runtime& runtime, GraphOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->runtime = &runtime;
  impl_->state = runtime.state();
  impl_->options = options;
  if (options.record || options.longest_path_priorities) impl_->record.emplace();
  impl_->lowest_priority = starpu_sched_get_min_priority();
  impl_->highest_priority = starpu_sched_get_max_priority();
}

Graph::~Graph() {
  if (!impl_->state->alive) return;
  for (starpu_task* task : impl_->held) {
    task->destroy = 0;
    starpu_task_destroy(task);
  }
  starpu_task_wait_for_all();
}

void Graph::insert(const Insertion& task) {
  impl_->require_alive();
  task.call->codelet = task.codelet;
  task.call->buffers = static_cast<std::uint32_t>(task.data.size());
  task.call->footprint = detail::footprint(task.cost_key, task.data);
  std::unique_ptr<detail::CallHeader, decltype(&std::free)> call(task.call, &std::free);
  for (std::size_t b = 0; b < task.data.size(); ++b)
    if (task.modes[std::min(b, task.modes.size() - 1)] == Mode::reduce && !task.data[b]->has_reduction())
      throw ArgumentError("Graph::insert", std::string("kernel '") + task.codelet->name() + "'",
                          "its Reduce parameter needs a tile that Graph::reduction was called for");
  const std::int32_t where = impl_->placement(task);

  starpu_task* t = starpu_task_create();
  t->cl = task.codelet->starpu();
  t->where = where;
  t->name = task.codelet->name();  // else traces show the performance model's
  t->flops = task.flops;
  t->priority = task.priority;
  t->cl_arg_size = task.call_bytes;
  t->cl_arg_free = 1;
  if (impl_->state->profile) {
    t->callback_func = &detail::record_use;
    t->callback_arg = t;
  }
  const std::size_t buffers = task.data.size();
  const auto& modes = task.codelet->modes();
  if (buffers > STARPU_NMAXBUFS) {
    t->dyn_handles = static_cast<starpu_data_handle_t*>(std::malloc(buffers * sizeof(starpu_data_handle_t)));
    if (task.codelet->has_list())
      t->dyn_modes =
          static_cast<starpu_data_access_mode*>(std::malloc(buffers * sizeof(starpu_data_access_mode)));
  }
  for (std::size_t b = 0; b < buffers; ++b) {
    STARPU_TASK_SET_HANDLE(t, static_cast<starpu_data_handle_t>(task.data[b]->handle()), b);
    if (task.codelet->has_list()) STARPU_TASK_SET_MODE(t, modes[std::min(b, modes.size() - 1)], b);
  }
  t->nbuffers = static_cast<int>(buffers);
  impl_->track(task);
  t->cl_arg = call.release();
  if (impl_->options.longest_path_priorities)
    impl_->held.push_back(t);
  else
    impl_->submit(t);
}

void Graph::submit() {
  impl_->require_alive();
  impl_->submit_held();
}

Status Graph::wait() {
  submit();
  starpu_task_wait_for_all();
  if (detail::draining.exchange(false)) {
    const std::string failure = detail::take_failure();
    if (!failure.empty()) throw EnvironmentError(failure);
    throw Cancelled();
  }
  Status status;
  for (Impl::StatusSlot& slot : impl_->statuses) {
    const HostAccess<const int> value(*slot.data, Mode::in);
    if (status.ok()) status.info = *value.data > 0 ? *value.data + slot.offset : *value.data;
  }
  return status;
}

Tile<int> Graph::status(index_t offset) {
  impl_->require_alive();
  Impl::StatusSlot& slot = impl_->statuses.emplace_back();
  slot.offset = offset;
  slot.data.emplace(*impl_->runtime, &slot.value, Shape{1, 1}, 1, sizeof(int), detail::Data::OnRelease::bring_home);
  return Tile<int>(*slot.data);
}

detail::Data& Graph::scratch_data(Shape shape, std::size_t element_size) {
  impl_->require_alive();
  return impl_->scratch
      .try_emplace({shape.rows, shape.cols, element_size}, *impl_->runtime, nullptr, shape, shape.rows, element_size,
                   detail::Data::OnRelease::drop)
      .first->second;
}

void Graph::prefetch(detail::Data& data, int gpu) {
  impl_->require_alive();
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  if (gpu < 0) {
    // An acquisition waits for the tasks before it, where StarPU's own prefetch would overtake them.
    starpu_data_acquire_on_node_cb(
        handle, STARPU_MAIN_RAM, STARPU_R,
        [](void* h) { starpu_data_release_on_node(static_cast<starpu_data_handle_t>(h), STARPU_MAIN_RAM); }, handle);
    return;
  }
  const auto& nodes = impl_->state->gpu_nodes;
  if (!nodes.empty()) starpu_data_prefetch_on_node(handle, nodes[static_cast<std::size_t>(gpu) % nodes.size()], 1);
}

void Graph::invalidate(detail::Data& data) {
  impl_->require_alive();
  starpu_data_invalidate_submit(static_cast<starpu_data_handle_t>(data.handle()));
}

Runtime& Graph::runtime() const {
  impl_->require_alive();
  return *impl_->runtime;
}

index_t Graph::tasks() const { return impl_->bounds.tasks; }

Bounds Graph::bounds() const {
  Bounds bounds = impl_->bounds;
  if (impl_->record)
    impl_->record->time(bounds, *impl_->state);
  else
    bounds.untimed = bounds.tasks;
  return bounds;
}

void Graph::write_dot(const std::string& path) const {
  if (!impl_->record) throw ArgumentError("Graph::write_dot", "options.record", "false: the graph was not recorded");
  impl_->record->write_dot(path);
}

}  // namespace tesela
