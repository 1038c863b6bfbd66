#include <tesela/runtime/internal/graph_impl.hpp>
#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/model_entries.hpp>
#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>
#include <tesela/runtime/internal/task_records.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

// Preparation of a task before its submission by Graph::insert.

namespace tesela {
namespace {

/// Allocates with malloc, because StarPU frees it.
template <class T>
T* allocated(std::size_t count) {
  auto* memory =
      static_cast<T*>(std::malloc(count * sizeof(T)));  // NOLINT(bugprone-sizeof-expression): T may be a handle
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Throws if the tasks of another graph that write this were dropped and the reason was reported by a third graph.
void throw_if_dropped_by_other_graph(const detail::Data& data, const detail::GraphTasks* mine) {
  const detail::TaskBatch* const part = data.writer().get();
  if (part != nullptr && !part->over && part->tasks.get() != mine && detail::stops_reported > part->seen)
    detail::throw_if_stopped_since(part->seen);
}

}  // namespace

void Graph::Impl::check(const Insertion& task) {
  touched.clear();
  ++insertion;
  const auto refuse = [&](std::size_t b, const char* why) {
    const std::string label = task.data[b]->label();
    throw ArgumentError("Graph::insert<" + std::string(task.codelet->name()) + ">", "tile " + std::to_string(b),
                        (label.empty() ? "it " : label + " ") + why);
  };
  if (state->messages != nullptr) prefetch_next(task.data);
  // Prefetches everything at once: in a graph with many tiles each access is a cache miss.
  for (detail::Data* const data : task.data) {
    __builtin_prefetch(&data->writer(), 1);
    touched.push_back(&history_of(*data));
    __builtin_prefetch(touched.back(), 1);
  }
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    detail::Data& data = *task.data[b];
    const Mode mode = mode_of(task, b);
    data.require_alive();
    if (mode == Mode::reduce && !data.has_reduction()) refuse(b, "is reduced into without Graph::reduction");
    if ((mode == Mode::in || mode == Mode::inout || mode == Mode::commute) && !data.has_value() &&
        !data.has_reduction())
      refuse(b, "is read, and nothing was written to it before");
    if (mode != Mode::out && mode != Mode::scratch) {
      if (data.is_lost()) refuse(b, (std::string("is read, and ") + detail::lost).c_str());
      if (detail::stops_reported != 0 && state->messages == nullptr) throw_if_dropped_by_other_graph(data, tasks.get());
    }
    detail::AccessHistory& history = *touched[b];
    if (history.data != data.id) history = {.data = data.id, .kind = mode};
    if (history.insertion == insertion && !(mode == Mode::in && history.insertion_mode == Mode::in))
      refuse(b, "is used twice by this task, and not only read");
    history.insertion = insertion;
    history.insertion_mode = mode;
  }
  for (std::size_t b = 0; b < task.data.size(); ++b)
    if (const Mode mode = mode_of(task, b); detail::RuntimeState::blocks(*task.data[b], mode))
      blocked.push_back({task.codelet->name(), task.data[b], task.data[b]->id, mode, task.data[b]->label()});
}

void Graph::Impl::report_blocked() const {
  for (const Blocked& task : blocked) {
    if (!state->still_blocks(task.data, task.data_id, task.mode)) continue;
    const std::string tile = task.label.empty() ? "a tile without a name" : "tile " + task.label;
    std::fprintf(
        stderr,
        "tesela: Graph::wait: task '%s' waits for %s, which the program holds on the host: end the access that "
        "Tile::read, update or write returned\n",
        task.kernel, tile.c_str());
    return;
  }
}

detail::AccessHistory& Graph::Impl::history_of(detail::Data& data) {
  constexpr std::uint64_t most = 1 << 22;
  if (state->messages == nullptr) return histories[&data];
  if (first_id == 0) first_id = data.id;
  const std::uint64_t place = data.id - first_id;  // huge for tiles made before the first
  if (place >= most) return histories[&data];
  if (place / page >= by_id.size()) by_id.resize(place / page + 1);
  auto& histories_there = by_id[place / page];
  if (histories_there == nullptr) histories_there = std::make_unique<detail::AccessHistory[]>(page);
  return histories_there[place % page];
}

void Graph::Impl::prefetch_next(std::span<detail::Data* const> data) {
  if (data.size() > last_tiles.size()) last_tiles.resize(data.size());
  for (std::size_t b = 0; b < data.size(); ++b) {
    const Tile now{reinterpret_cast<std::uintptr_t>(data[b]), data[b]->id}, last = std::exchange(last_tiles[b], now);
    if (now.address == last.address) continue;
    // Nothing may be there: a prefetch has no other effect. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* const next = reinterpret_cast<const char*>(3 * now.address - 2 * last.address);
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + 64, 1);
    const std::uint64_t place = 3 * now.id - 2 * last.id - first_id;
    if (place / page < by_id.size() && by_id[place / page] != nullptr)
      __builtin_prefetch(&by_id[place / page][place % page], 1);
  }
}

bool Graph::Impl::suits_a_core(const Insertion& task, std::uint32_t footprint, std::size_t bytes) {
  constexpr double flops = 2e8;
  constexpr std::size_t memory = 64u << 20;
  if (state->calibrates || state->gpus == 0) return true;
  Kind& kind = kinds[{task.codelet, footprint}];
  ++kind.inserted;
  if (kind.on_cores) return *kind.on_cores;
  const bool many = kind.inserted > 2 * std::ssize(state->workers);
  if (kind.inserted > 1 && !many) return false;
  const auto [cpu, gpu] = detail::expected_seconds(*task.codelet, footprint, *state);
  if (cpu == detail::ExpectedSeconds::unknown) return many && task.flops < flops && bytes < memory;
  if (gpu == detail::ExpectedSeconds::unknown) return true;
  kind.on_cores = cpu <= 2 * state->cpus * gpu;
  return *kind.on_cores;
}

std::int32_t Graph::Impl::placement(const Insertion& task, std::uint32_t footprint) {
  detail::CodeletImpl& codelet = *task.codelet;
  std::uint32_t where = detail::workers_for(codelet, *state);
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    if (mode_of(task, b) != Mode::reduce) continue;
    // A worker's part of a reduction begins with the zero kernel.
    const detail::CodeletImpl& zero = *task.data[b]->zero();
    where &= detail::workers_for(zero, *state);
    if (where == 0)
      throw NoWorkerError(std::string("kernel '") + codelet.name() + "' reduces into a tile whose zero kernel '" +
                          zero.name() + "' has no variant for the workers that can run it, among " +
                          detail::describe_workers(*state) + ": give it their variant, or allow other workers");
  }
  const bool cpu = (where & STARPU_CPU) != 0, cuda = (where & STARPU_CUDA) != 0;
  std::size_t bytes = 0;
  for (const detail::Data* data : task.data) bytes += data->bytes();
  if (detail::simulates) detail::look_up_times(codelet, footprint, static_cast<double>(bytes), task.flops);
  if (!cuda || (cpu && task.priority.core)) return STARPU_CPU;
  if (bytes <= state->smallest_device) {
    const bool anywhere = cpu && !task.priority.gpu && task.priority.device < 0;
    return anywhere && suits_a_core(task, footprint, bytes) ? STARPU_CPU | STARPU_CUDA : STARPU_CUDA;
  }
  if (cpu) return STARPU_CPU;
  throw EnvironmentError(std::string("kernel '") + codelet.name() + "' needs " + std::to_string(bytes >> 20) +
                         " MiB for the tiles of one task, and the smallest GPU may use " +
                         std::to_string(state->smallest_device >> 20) +
                         " MiB: use smaller tiles, raise STARPU_LIMIT_CUDA_MEM, or allow CPU workers (STARPU_NCPU)");
}

void Graph::Impl::track(const Insertion& task, std::uint32_t footprint) {
  if (tasks->stops_seen == detail::GraphTasks::no_tasks) {  // first task since the last wait()
    part = std::make_shared<detail::TaskBatch>(tasks, detail::stops_reported.load());
    tasks->stops_seen = part->seen;
  }
  if (record) {
    std::string label;
    for (std::size_t b = 0; b < task.data.size() && label.empty(); ++b)
      if (mode_of(task, b) != Mode::in) label = task.data[b]->label();
    record->add(*task.codelet, footprint, task.data, task.flops, task.priority, std::move(label));
    for (detail::AccessHistory* const history : touched)
      if (history->tasks == nullptr) history->tasks = std::make_unique<detail::AccessHistory::Tasks>();
  }
  double begin = 0;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    const Mode mode = mode_of(task, b);
    if (mode == Mode::scratch) continue;
    begin = std::max(begin, touched[b]->begin(mode));
    if (record) record->uses(*task.data[b], mode);
    if (record && task.data[b]->status_number < 0) record->depends_on(touched[b]->tasks->previous);
    if (mode == Mode::in) continue;
    task.data[b]->set_value(true);
    task.data[b]->set_writer(part);
    if (const index_t k = task.data[b]->status_number; k >= 0 && k < std::ssize(statuses)) {
      StatusSlot& slot = statuses[static_cast<std::size_t>(k)];
      if (slot.data.get() == task.data[b] && !std::exchange(slot.written, true)) written_statuses.push_back(k);
    }
  }
  if (record)
    for (std::size_t b = 0; b < task.data.size(); ++b)
      if (task.data[b]->status_number >= 0) record->depends_on(touched[b]->tasks->previous, true);
  recorded = state->recording ? record_run(task, footprint) : 0;
  const double end = begin + task.flops;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    if (mode_of(task, b) == Mode::scratch) continue;
    auto& history = *touched[b];
    history.current_end = std::max(history.current_end, end);
    if (record) history.tasks->current.push_back(static_cast<std::uint32_t>(record->size() - 1));
  }
  statuses_at_home = false;
  ++bounds.tasks;
  bounds.work_flops += task.flops;
  bounds.path_flops = std::max(bounds.path_flops, end);
}

std::uint32_t Graph::Impl::record_run(const Insertion& task, std::uint32_t footprint) {
  const std::lock_guard lock(state->records_mutex);
  if (state->records == nullptr) return 0;
  const std::uint32_t number = state->records->add(*task.codelet, footprint, task.data, task.flops);
  if (!record) return number;
  record->set_number(number);
  state->records->describe(number, record->label_of_last(), record->numbers_before_last());
  return number;
}

detail::OwnedTask Graph::Impl::make_task(const Insertion& task, std::int32_t where) const {
  detail::OwnedTask t(starpu_task_create());
  t->cl = task.codelet->starpu();
  t->where = where;
  t->name = task.codelet->name();  // otherwise traces show the performance model's name
  t->flops = task.flops;
  t->priority = task.priority.value;
  if (where == STARPU_CUDA && (options.gpu >= 0 || task.priority.device >= 0)) {
    const int device = options.gpu >= 0 ? options.gpu : task.priority.device / state->ranks;  // the ranks come first
    auto& [all, first, others] = state->gpu_workers[static_cast<std::size_t>(device) % state->gpu_workers.size()];
    const GpuStream stream = options.gpu >= 0 ? GpuStream::any : task.priority.stream;
    auto& some = stream == GpuStream::any ? all : stream == GpuStream::first ? first : others;
    t->workerids = some.data();
    t->workerids_len = static_cast<unsigned>(some.size());
  }
  t->cl_arg_size = task.call_bytes;
  t->cl_arg_free = 1;
  t->callback_func = state->profile ? &detail::finish_profiled_task : &detail::finish_task;
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
  return t;
}

void Graph::insert(const Insertion& task) {
  impl_->require_alive();
  impl_->check(task);
  const bool runs_here = impl_->state->messages == nullptr || impl_->meet(task);
  const bool recorded = impl_->record || impl_->state->recording;
  std::uint32_t footprint = runs_here || recorded ? detail::footprint(task.cost_key, task.data) : 0;
  if (detail::models_separate_flops()) footprint = detail::footprint_with_flops(footprint, task.flops);
  if (!runs_here) return impl_->track(task, footprint);
  const std::size_t buffers = task.data.size();
  std::unique_ptr<detail::CallHeader, detail::DestroyCall> call(task.pack(task.source));
  *call = {task.codelet, impl_->tasks.get(), footprint, static_cast<std::uint32_t>(buffers)};
  const std::int32_t where = impl_->placement(task, footprint);
  for (std::size_t b = 0; b < buffers; ++b) task.data[b]->reserve(Impl::mode_of(task, b));
  detail::OwnedTask t = impl_->make_task(task, impl_->state->has_null_messages ? std::int32_t{STARPU_NOWHERE} : where);
  t->cl_arg = call.release();
  for (std::size_t b = 0; b < buffers; ++b)
    task.data[b]->submit_deferred(Impl::mode_of(task, b) != Mode::in, impl_->id);
  if (impl_->options.longest_path_priorities && impl_->state->messages == nullptr) {
    const std::lock_guard lock(impl_->held_mutex);
    for (std::size_t b = 0; b < buffers; ++b) task.data[b]->hold(impl_->id, Impl::mode_of(task, b) != Mode::in);
    impl_->track(task, footprint);
    t->tag_id = impl_->recorded;
    impl_->held.push_back({std::move(t), {}});
  } else {
    impl_->track(task, footprint);
    t->tag_id = impl_->recorded;
    impl_->submit(std::move(t));
  }
}

}  // namespace tesela
