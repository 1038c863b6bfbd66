#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tesela {
namespace {

std::atomic<std::uint64_t> next_graph_id{1};

/// Of a task that was not submitted; its arguments go with it.
struct DestroyTask {
  void operator()(starpu_task* task) const {
    task->destroy = 0;
    starpu_task_destroy(task);
  }
};
using OwnedTask = std::unique_ptr<starpu_task, DestroyTask>;

/// For StarPU to free.
template <class T>
T* allocated(std::size_t count) {
  auto* memory = static_cast<T*>(std::malloc(count * sizeof(T)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
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

  struct StatusSlot {
    std::unique_ptr<detail::Data> data;
    index_t offset = 0;
    bool written = false;  // by a task since the last wait()
  };
  std::vector<StatusSlot> statuses;
  std::vector<index_t> written_statuses;  // so that one of many costs a wait() nothing where no task took it
  bool statuses_at_home = false;          // since wait() there was no task
  std::map<std::tuple<index_t, index_t, std::size_t, index_t>, detail::Data> scratch;

  struct Held {
    OwnedTask task;              // null for a hint
    std::function<void()> hint;  // keeps its place among the tasks
  };
  std::vector<Held> held;  // with longest_path_priorities: what is not submitted yet

  std::mutex held_mutex;  // of `held` and `record` then: another thread may submit them

  std::shared_ptr<detail::GraphTasks> tasks = std::make_shared<detail::GraphTasks>();

  /// By address, which a later tile may have again: AccessHistory::data tells.
  std::unordered_map<const detail::Data*, detail::AccessHistory> histories;
  std::vector<detail::AccessHistory*> touched;  // of the task being inserted, one for each of its tiles
  std::uint64_t insertion = 0;

  /// The mode of the task's b-th tile; a list's mode is that of all its tiles.
  static Mode mode_of(const Insertion& task, std::size_t b) { return task.modes[std::min(b, task.modes.size() - 1)]; }

  void require_alive() const {
    if (!state->alive) throw LifetimeError("Graph: its Runtime was destroyed; destroy graphs first");
  }
  /// Refuses, by name, the tasks that StarPU would abort on or that would wait for themselves; fills `touched`.
  void check(const Insertion& task);
  /// Which kinds of worker may run this task, or NoWorkerError / EnvironmentError saying why none can.
  std::int32_t placement(const Insertion& task) const;
  void track(const Insertion& task);
  void submit(OwnedTask task) const;
  void submit_held();
  /// Runs a hint on this data, or holds it back among the tasks.
  void in_order(detail::Data&, bool writes, std::function<void()> hint);
};

void Graph::Impl::check(const Insertion& task) {
  touched.clear();
  ++insertion;
  const auto refuse = [&](std::size_t b, const char* why) {
    const std::string label = task.data[b]->label();
    throw ArgumentError("Graph::insert<" + std::string(task.codelet->name()) + ">", "tile " + std::to_string(b),
                        (label.empty() ? "it " : label + " ") + why);
  };
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    detail::Data& data = *task.data[b];
    const Mode mode = mode_of(task, b);
    data.handle();
    if (mode == Mode::reduce && !data.has_reduction()) refuse(b, "is reduced into without Graph::reduction");
    if ((mode == Mode::in || mode == Mode::inout || mode == Mode::commute) && !data.has_value() &&
        !data.has_reduction())
      refuse(b, "is read, and nothing was written to it before");
    detail::AccessHistory& history = histories[&data];
    if (history.data != data.id) history = {.data = data.id, .kind = mode};
    if (history.insertion == insertion && !(mode == Mode::in && history.insertion_mode == Mode::in))
      refuse(b, "is used twice by this task, and not only read");
    history.insertion = insertion;
    history.insertion_mode = mode;
    touched.push_back(&history);
  }
}

std::int32_t Graph::Impl::placement(const Insertion& task) const {
  detail::CodeletImpl& codelet = *task.codelet;
  std::uint32_t where = detail::workers_for(codelet, *state);
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    if (mode_of(task, b) != Mode::reduce) continue;
    // A worker begins its part of a reduction with the zero kernel.
    const detail::CodeletImpl& zero = *task.data[b]->zero();
    where &= detail::workers_for(zero, *state);
    if (where == 0)
      throw NoWorkerError(std::string("kernel '") + codelet.name() + "' reduces into a tile whose zero kernel '" +
                          zero.name() + "' has no variant for the workers that can run it, among " +
                          detail::describe_workers(*state) + ": give it their variant, or allow other workers");
  }
  const bool cpu = (where & STARPU_CPU) != 0, cuda = (where & STARPU_CUDA) != 0;
  if (!cuda) return STARPU_CPU;
  std::size_t bytes = 0;
  for (const detail::Data* data : task.data) bytes += data->bytes();
  if (bytes <= state->smallest_device)
    return cpu && !task.priority.gpu && task.priority.device < 0 ? STARPU_CPU | STARPU_CUDA : STARPU_CUDA;
  if (cpu) return STARPU_CPU;
  throw EnvironmentError(std::string("kernel '") + codelet.name() + "' needs " + std::to_string(bytes >> 20) +
                         " MiB for the tiles of one task, and the smallest GPU may use " +
                         std::to_string(state->smallest_device >> 20) +
                         " MiB: use smaller tiles, raise STARPU_LIMIT_CUDA_MEM, or allow CPU workers (STARPU_NCPU)");
}

/// Follows the dependences that this task implies: the longest path always, the edges when the graph is recorded.
void Graph::Impl::track(const Insertion& task) {
  if (record) {
    std::string label;
    for (std::size_t b = 0; b < task.data.size() && label.empty(); ++b)
      if (mode_of(task, b) != Mode::in) label = task.data[b]->label();
    record->add(*task.codelet, task.call->footprint, task.flops, std::move(label));
  }
  double begin = 0;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    const Mode mode = mode_of(task, b);
    if (mode == Mode::scratch) continue;
    begin = std::max(begin, touched[b]->begin(mode));
    if (record) record->depends_on(touched[b]->previous);
    if (mode == Mode::in) continue;
    task.data[b]->set_value(true);
    task.data[b]->set_writer(tasks);
    if (const index_t k = task.data[b]->status_number; k >= 0 && k < std::ssize(statuses)) {
      StatusSlot& slot = statuses[static_cast<std::size_t>(k)];
      if (slot.data.get() == task.data[b] && !std::exchange(slot.written, true)) written_statuses.push_back(k);
    }
  }
  const double end = begin + task.flops;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    if (mode_of(task, b) == Mode::scratch) continue;
    auto& history = *touched[b];
    history.current_end = std::max(history.current_end, end);
    if (record) history.current.push_back(static_cast<std::uint32_t>(record->size() - 1));
  }
  statuses_at_home = false;
  if (tasks->drains_seen == detail::GraphTasks::nothing_to_drop)
    tasks->drains_seen = detail::drains_reported.load();  // the first since the last wait()
  ++bounds.tasks;
  bounds.work_flops += task.flops;
  bounds.path_flops = std::max(bounds.path_flops, end);
}

void Graph::Impl::submit(OwnedTask task) const {
  task->priority = std::clamp(task->priority, lowest_priority, highest_priority);
  ++tasks->unfinished;
  if (starpu_task_submit(task.get()) == 0) {
    static_cast<void>(task.release());  // StarPU destroys it when it has run
  } else {
    --tasks->unfinished;
    throw NoWorkerError(std::string("kernel '") + task->cl->name + "': StarPU found no worker for it among " +
                        detail::describe_workers(*state));
  }
}

void Graph::Impl::submit_held() {
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
  data.submit_held(writes, id);
  const std::lock_guard lock(held_mutex);
  if (held.empty()) return hint();
  data.hold(id, writes);  // so that the data's end submits the hint
  held.push_back({nullptr, std::move(hint)});
}

Graph::Graph(Runtime& runtime, GraphOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->runtime = &runtime;
  impl_->state = runtime.state();
  impl_->options = std::move(options);
  if (impl_->options.record || impl_->options.longest_path_priorities) impl_->record.emplace();
  impl_->lowest_priority = starpu_sched_get_min_priority();
  impl_->highest_priority = starpu_sched_get_max_priority();
  impl_->tasks->runtime = impl_->state.get();
  {
    const std::lock_guard lock(impl_->state->mutex);
    impl_->state->graphs.insert(impl_->tasks.get());
  }
  if (impl_->options.longest_path_priorities) {
    const std::lock_guard lock(impl_->state->holding_mutex);
    impl_->state->holding.emplace(impl_->id, [impl = impl_.get()] { impl->submit_held(); });
    ++impl_->state->graphs_holding;
  }
}

Graph::~Graph() {
  detail::RuntimeState& state = *impl_->state;
  if (state.alive) {
    try {
      impl_->submit_held();
    } catch (const std::exception&) {
      // Told by wait(), which nobody called.
    }
    state.wait_for(*impl_->tasks);
    if (impl_->tasks->drains_seen.exchange(detail::GraphTasks::nothing_to_drop) != detail::GraphTasks::nothing_to_drop)
      detail::report_drains();
    for (Impl::StatusSlot& slot : impl_->statuses) {
      const auto& writer = slot.data->writer();
      const bool ours = slot.data->has_value() && (writer == nullptr || writer == impl_->tasks);
      state.give_back_status(std::move(slot.data), impl_->statuses_at_home && ours);
    }
  }
  if (impl_->options.longest_path_priorities) {
    const std::lock_guard lock(state.holding_mutex);
    state.holding.erase(impl_->id);
    --state.graphs_holding;
  }
  const std::lock_guard lock(state.mutex);
  state.graphs.erase(impl_->tasks.get());
}

void Graph::insert(const Insertion& task) {
  std::unique_ptr<detail::CallHeader, decltype(&std::free)> call(task.call, &std::free);
  impl_->require_alive();
  impl_->check(task);
  task.call->codelet = task.codelet;
  task.call->graph = impl_->tasks.get();
  task.call->buffers = static_cast<std::uint32_t>(task.data.size());
  task.call->footprint = detail::footprint(task.cost_key, task.data);
  const std::int32_t where = impl_->placement(task);
  for (std::size_t b = 0; b < task.data.size(); ++b) task.data[b]->reserve(Impl::mode_of(task, b));

  OwnedTask t(starpu_task_create());
  t->cl = task.codelet->starpu();
  t->where = where;
  t->name = task.codelet->name();  // else traces show the performance model's
  t->flops = task.flops;
  t->priority = task.priority.value;
  if (where == STARPU_CUDA && task.priority.device >= 0) {
    auto& workers = impl_->state->gpu_workers;
    auto& some = workers[static_cast<std::size_t>(task.priority.device) % workers.size()];
    t->workerids = some.data();
    t->workerids_len = static_cast<unsigned>(some.size());
  }
  t->cl_arg_size = task.call_bytes;
  t->cl_arg_free = 1;
  t->callback_func = impl_->state->profile ? &detail::finish_profiled_task : &detail::finish_task;
  t->callback_arg = t.get();
  const std::size_t buffers = task.data.size();
  const auto& modes = task.codelet->modes();
  if (buffers > STARPU_NMAXBUFS) {
    t->dyn_handles = allocated<starpu_data_handle_t>(buffers);
    if (task.codelet->has_list()) t->dyn_modes = allocated<starpu_data_access_mode>(buffers);
  }
  for (std::size_t b = 0; b < buffers; ++b) {
    STARPU_TASK_SET_HANDLE(t, static_cast<starpu_data_handle_t>(task.data[b]->handle()), b);
    if (task.codelet->has_list()) STARPU_TASK_SET_MODE(t, modes[std::min(b, modes.size() - 1)], b);
  }
  t->nbuffers = static_cast<int>(buffers);
  t->cl_arg = call.release();
  for (std::size_t b = 0; b < buffers; ++b) task.data[b]->submit_held(Impl::mode_of(task, b) != Mode::in, impl_->id);
  if (impl_->options.longest_path_priorities) {
    const std::lock_guard lock(impl_->held_mutex);
    for (std::size_t b = 0; b < buffers; ++b) task.data[b]->hold(impl_->id, Impl::mode_of(task, b) != Mode::in);
    impl_->track(task);
    impl_->held.push_back({std::move(t), {}});
  } else {
    impl_->track(task);
    impl_->submit(std::move(t));
  }
}

void Graph::submit() {
  impl_->require_alive();
  impl_->submit_held();
}

Status Graph::wait() {
  submit();
  // All on their way while the last tasks run; one after the other they would take longer than a short task.
  std::vector<index_t>& written = impl_->written_statuses;
  std::sort(written.begin(), written.end());
  for (const index_t k : written) prefetch(*impl_->statuses[static_cast<std::size_t>(k)].data, -1);
  impl_->state->wait_for(*impl_->tasks);
  const std::uint64_t seen =
      std::min(detail::drains_reported.load(), impl_->tasks->drains_seen.exchange(detail::GraphTasks::nothing_to_drop));
  detail::report_drains();
  Status status;
  for (const index_t k : written) {
    Impl::StatusSlot& slot = impl_->statuses[static_cast<std::size_t>(k)];
    const int value = *HostAccess<const int>(*slot.data, Mode::in).data;
    if (value == 0) continue;
    if (status.ok()) status.info = value > 0 ? value + slot.offset : value;
    *HostAccess<int>(*slot.data, Mode::out).data = 0;
  }
  for (const index_t k : written) impl_->statuses[static_cast<std::size_t>(k)].written = false;
  written.clear();
  impl_->statuses_at_home = true;
  detail::throw_if_drained_since(seen);
  return status;
}

Tile<int> Graph::status(index_t offset) {
  impl_->require_alive();
  impl_->statuses.push_back({impl_->state->take_status(*impl_->runtime), offset});
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
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  const auto& nodes = impl_->state->gpu_nodes;
  if (!data.has_value() || (gpu >= 0 && nodes.empty())) return;
  if (gpu >= 0) {
    const unsigned node = nodes[static_cast<std::size_t>(gpu) % nodes.size()];
    return impl_->in_order(data, false, [=] { starpu_data_prefetch_on_node(handle, node, 1); });
  }
  // An acquisition waits for the tasks before it, where StarPU's own prefetch would overtake them.
  impl_->in_order(data, false, [handle, tasks = impl_->tasks.get()] { detail::bring_home(handle, *tasks); });
}

void Graph::invalidate(detail::Data& data) {
  impl_->require_alive();
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  impl_->in_order(data, true, [=] { starpu_data_invalidate_submit(handle); });
  data.set_value(false);
}

Runtime& Graph::runtime() const {
  impl_->require_alive();
  return *impl_->runtime;
}

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

void Graph::write_dot(const std::string& path) const {
  impl_->require_alive();
  if (!impl_->record) throw ArgumentError("Graph::write_dot", "options.record", "false: the graph was not recorded");
  impl_->record->write_dot(path, impl_->options.name);
}

}  // namespace tesela
