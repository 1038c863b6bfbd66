#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <limits>

namespace tesela::detail {
namespace {

std::atomic<std::uint64_t> last_id{0};

}  // namespace

Data::Data(Runtime& runtime, void* home, Shape shape, index_t ld, std::size_t element_size, OnRelease on_release,
           int gpu)
    : id(++last_id),
      state_(runtime.state()),
      shape_(shape),
      element_size_(element_size),
      on_release_(on_release),
      has_home_(home != nullptr),
      home_node_(home == nullptr ? -1 : STARPU_MAIN_RAM),
      has_value_(home != nullptr) {
  if (!state_->alive) throw LifetimeError("Data: the Runtime it is registered with is gone");
  if (gpu >= 0) {
    const auto& nodes = state_->gpu_nodes;
    if (static_cast<std::size_t>(gpu) >= nodes.size())
      throw EnvironmentError("memory of GPU " + std::to_string(gpu) + ": this runtime has " +
                             std::to_string(nodes.size()));
    home_node_ = static_cast<int>(nodes[static_cast<std::size_t>(gpu)]);
  }
  const index_t limit = std::numeric_limits<std::uint32_t>::max();
  if (home == nullptr) ld = shape.rows;
  if (shape.rows <= 0 || shape.cols <= 0 || shape.rows > limit || shape.cols > limit || ld > limit)
    throw ArgumentError("Data", "shape",
                        std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + " with leading dimension " +
                            std::to_string(ld) + " (each from 1 to 2^32 - 1)");
  starpu_data_handle_t handle = nullptr;
  starpu_matrix_data_register(&handle, home_node_, reinterpret_cast<uintptr_t>(home), static_cast<std::uint32_t>(ld),
                              static_cast<std::uint32_t>(shape.rows), static_cast<std::uint32_t>(shape.cols),
                              element_size);
  handle_ = handle;
  state_->add(*this);
}

Data::~Data() {
  try {
    if (registered()) submit_held(true);
  } catch (const std::exception&) {
    // A task that cannot be submitted is dropped, with nobody here to tell.
  }
  state_->remove(*this);
  state_->host_leaving += reserved_;
  if (handle_ != nullptr && on_release_ == OnRelease::drop && held_on_host_ == 0 && combine_calls_.empty())
    // Tasks that were inserted keep the contents until they have run: an algorithm's temporaries make nobody wait.
    starpu_data_unregister_submit(static_cast<starpu_data_handle_t>(std::exchange(handle_, nullptr)));
  else
    release();
}

void Data::release() noexcept {
  if (handle_ == nullptr) return;
  auto* handle = static_cast<starpu_data_handle_t>(handle_);
  handle_ = nullptr;
  // An access on the host that outlives the runtime would make StarPU wait for its end for ever.
  for (int held = held_on_host_; held > 0; --held) starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
  if (on_release_ == OnRelease::bring_home)
    starpu_data_unregister(handle);
  else
    starpu_data_unregister_no_coherency(handle);
}

void Data::reserve(Mode mode) {
  if (state_->host_limit == SIZE_MAX) return;
  const auto workers = static_cast<std::size_t>(state_->cpus);
  std::size_t copies = has_home_ ? 0 : 1;
  if (mode == Mode::reduce) copies += workers;
  if (mode == Mode::scratch) copies = workers;
  if (copies * bytes() <= reserved_) return;
  state_->reserve_host(copies * bytes() - reserved_);
  reserved_ = copies * bytes();
}

void Data::hold(std::uint64_t graph, bool writes) {
  std::uint64_t nobody = 0;
  if (!held_by_.compare_exchange_strong(nobody, graph) && nobody != graph) held_by_ = RuntimeState::every_graph;
  if (writes) held_writing_ = true;
}

void Data::submit_held(bool writes, std::uint64_t but) {
  if (state_->graphs_holding == 0) return;
  const std::uint64_t holder = held_by_;
  if (holder == 0 || holder == but || !(writes || held_writing_)) return;
  state_->submit_held(holder, but);
  held_writing_ = false;
  if (writes) held_by_ = 0;
}

void* Data::handle() const {
  if (handle_ == nullptr)
    throw LifetimeError(
        "a tile was used after the Runtime it belongs to was destroyed: destroy tiles and graphs first");
  return handle_;
}

void Data::set_label(std::shared_ptr<const std::string> name, index_t i, index_t j) {
  name_ = std::move(name);
  i_ = i;
  j_ = j;
  starpu_data_set_coordinates(static_cast<starpu_data_handle_t>(handle()), 2, static_cast<int>(i), static_cast<int>(j));
}

std::string Data::label() const {
  if (name_ == nullptr) return {};
  return *name_ + "(" + std::to_string(i_) + "," + std::to_string(j_) + ")";
}

void Data::set_reduction(CodeletImpl& zero, CodeletImpl& combine, std::vector<std::byte> combine_call) {
  auto* registered = static_cast<starpu_data_handle_t>(handle());
  if (zero_ == &zero && combine_ == &combine) return;
  workers_for(zero, *state_);
  workers_for(combine, *state_);
  Data* const self[] = {this, this};
  reinterpret_cast<CallHeader*>(combine_call.data())->footprint = footprint(0, self);
  combine_calls_.push_back(std::move(combine_call));
  zero_ = &zero;
  combine_ = &combine;
  // No arguments for zero: StarPU 1.4 does not pass them on to the workers that begin a reduction (see run_variant).
  starpu_data_set_reduction_methods_with_args(registered, combine.starpu(), combine_calls_.back().data(), zero.starpu(),
                                              nullptr);
}

TileMemory acquire_on_host(Data& data, Mode mode) {
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  if (mode != Mode::out && !data.has_value() && !data.has_reduction())
    throw ArgumentError(mode == Mode::in ? "Tile::read" : "Tile::update", "tile " + data.label(),
                        "nothing was written to it");
  data.reserve(mode);
  data.submit_held(mode != Mode::in);
  if (starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, to_starpu(mode)) != 0)
    throw EnvironmentError("a tile could not be brought to host memory");
  try {
    const std::uint64_t reported = drains_reported;
    throw_if_drained_since(data.writer_ == nullptr ? reported : std::min(reported, data.writer_->drains_seen.load()));
  } catch (const Error&) {
    starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
    throw;
  }
  data.set_value(true);
  ++data.held_on_host_;
  return tile_memory(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
}

void Data::acquire_home(Mode mode) {
  if (!has_home_) return;
  auto* registered = static_cast<starpu_data_handle_t>(handle());
  submit_held(mode != Mode::in);
  if (starpu_data_acquire_on_node(registered, home_node_, to_starpu(mode)) != 0)
    throw EnvironmentError("a tile could not be brought to where it is at home");
  starpu_data_release_on_node(registered, home_node_);
  throw_if_drained_since(writer_ == nullptr ? drains_reported.load()
                                            : std::min(drains_reported.load(), writer_->drains_seen.load()));
  set_value(true);
}

void release_on_host(Data& data) noexcept {
  if (!data.registered()) return;
  --data.held_on_host_;
  starpu_data_release_on_node(static_cast<starpu_data_handle_t>(data.handle_), STARPU_MAIN_RAM);
}

void bring_home(starpu_data_handle_t handle, GraphTasks& graph) {
  struct Acquired {
    starpu_data_handle_t handle;
    GraphTasks* graph;
  };
  std::unique_ptr<Acquired> acquired(new Acquired{handle, &graph});
  const auto release = [](void* argument) {
    const std::unique_ptr<Acquired> it(static_cast<Acquired*>(argument));
    starpu_data_release_on_node(it->handle, STARPU_MAIN_RAM);
    it->graph->finish();
  };
  ++graph.unfinished;
  if (starpu_data_acquire_on_node_cb(handle, STARPU_MAIN_RAM, STARPU_R, release, acquired.get()) == 0)
    static_cast<void>(acquired.release());
  else
    --graph.unfinished;
}

void RuntimeState::add(Data& data) {
  const std::lock_guard lock(mutex);
  data.next_ = registered;
  if (registered != nullptr) registered->previous_ = &data;
  registered = &data;
}

void RuntimeState::remove(Data& data) noexcept {
  const std::lock_guard lock(mutex);
  if (data.previous_ != nullptr) data.previous_->next_ = data.next_;
  if (data.next_ != nullptr) data.next_->previous_ = data.previous_;
  if (registered == &data) registered = data.next_;
  data.next_ = data.previous_ = nullptr;
}

void RuntimeState::submit_held(std::uint64_t graph, std::uint64_t but) {
  if (graphs_holding == 0) return;
  const std::lock_guard lock(holding_mutex);  // no graph ends meanwhile
  for (const auto& [id, submission] : holding)
    if (id != but && (graph == every_graph || graph == id)) submission();
}

void RuntimeState::reserve_host(std::size_t bytes) {
  if ((host_used += bytes) <= host_limit) return;
  // StarPU would try for ever. What has ended keeps its memory until its tasks have run.
  submit_held(every_graph);
  starpu_task_wait_for_all();
  host_used -= host_leaving.exchange(0);
  if (host_used <= host_limit) return;
  const std::size_t wanted = host_used;
  host_used -= bytes;
  throw EnvironmentError("tiles need " + std::to_string((wanted + (1 << 20) - 1) >> 20) +
                         " MiB of host memory, and StarPU may allocate " + std::to_string(host_limit >> 20) +
                         " MiB: raise or unset " + host_limited_by);
}

void RuntimeState::wait_for(const GraphTasks& graph) {
  starpu_do_schedule();  // some schedulers ask for it
  ++waiting;
  {
    std::unique_lock lock(waiting_mutex);
    all_finished.wait(lock, [&] { return graph.unfinished == 0; });
  }
  --waiting;
}

void GraphTasks::finish() noexcept {
  RuntimeState& state = *runtime;
  if (--unfinished != 0 || state.waiting == 0) return;
  const std::lock_guard lock(state.waiting_mutex);
  state.all_finished.notify_all();
}

void RuntimeState::release_all() noexcept {
  const std::lock_guard lock(mutex);
  for (Data* data = registered; data != nullptr; data = data->next_) data->release();
}

std::unique_ptr<Data> RuntimeState::take_status(Runtime& runtime) {
  const std::lock_guard lock(spare_mutex);
  if (spare_statuses.empty()) {
    constexpr std::size_t together = 64;
    status_memory.push_back(std::make_unique<HostBuffer>(runtime, together * sizeof(int)));
    int* const memory = static_cast<int*>(status_memory.back()->data());
    std::fill_n(memory, together, 0);
    for (std::size_t i = together; i-- > 0;)
      spare_statuses.push_back(
          std::make_unique<Data>(runtime, memory + i, Shape{1, 1}, 1, sizeof(int), Data::OnRelease::bring_home));
  }
  std::unique_ptr<Data> status = std::move(spare_statuses.back());
  spare_statuses.pop_back();
  return status;
}

void RuntimeState::give_back_status(std::unique_ptr<Data> status, bool at_home) noexcept {
  try {
    const auto is_zero = [&] {
      if (!at_home) return *HostAccess<const int>(*status, Mode::in).data == 0;
      auto* const handle = static_cast<starpu_data_handle_t>(status->handle());
      return *static_cast<const int*>(tile_memory(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM)).data) ==
             0;
    };
    if (!is_zero()) *HostAccess<int>(*status, Mode::out).data = 0;
    status->set_writer(nullptr);
    const std::lock_guard lock(spare_mutex);
    spare_statuses.push_back(std::move(status));
  } catch (const std::exception&) {
    // It ends here: tasks that were dropped may not have written it.
  }
}

}  // namespace tesela::detail
