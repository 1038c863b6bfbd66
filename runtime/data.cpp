#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <exception>
#include <limits>

namespace tesela::detail {

std::atomic<std::uint64_t> last_data_id{0};

Data::Data(Runtime& runtime, void* home, Shape shape, index_t ld, std::size_t element_size, OnRelease on_release,
           int gpu)
    : id(++last_data_id),
      state_(runtime.state().get()),
      rows_(static_cast<std::uint32_t>(shape.rows)),
      cols_(static_cast<std::uint32_t>(shape.cols)),
      element_size_(static_cast<std::uint32_t>(element_size)),
      has_home_(home != nullptr),
      has_value_(home != nullptr),
      kept_state_(runtime.state()),
      on_release_(on_release),
      home_(home),
      ld_(ld),
      home_node_(home == nullptr ? -1 : STARPU_MAIN_RAM) {
  if (!state_->alive) throw LifetimeError("Data: the Runtime it is registered with is gone");
  if (gpu >= 0) {
    const auto& nodes = state_->gpu_nodes;
    if (static_cast<std::size_t>(gpu) >= nodes.size())
      throw EnvironmentError("memory of GPU " + std::to_string(gpu) + ": this runtime has " +
                             std::to_string(nodes.size()));
    home_node_ = static_cast<int>(nodes[static_cast<std::size_t>(gpu)]);
  }
  const index_t limit = std::numeric_limits<std::uint32_t>::max();
  if (home == nullptr) ld = ld_ = shape.rows;
  require(shape.rows > 0 && shape.cols > 0 && shape.rows <= limit && shape.cols <= limit && ld <= limit, "Data",
          "shape", shape.rows, " x ", shape.cols, " with leading dimension ", ld, " (each from 1 to 2^32 - 1)");
  if (shape.rows > limit / shape.cols)  // StarPU multiplies them in 32 bits
    throw ArgumentError("Data", "shape",
                        std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
                            ": a tile has less than 2^32 elements; use smaller ones");
  if (state_->messages == nullptr)
    enlist();
  else if (home != nullptr)
    record_write_by_all();
  state_->add(*this);
}

void Data::enlist() const {
  starpu_data_handle_t handle = nullptr;
  starpu_matrix_data_register(&handle, home_node_, reinterpret_cast<uintptr_t>(home_), static_cast<std::uint32_t>(ld_),
                              rows_, cols_, element_size_);
  handle_ = handle;
  if (name_ != nullptr) starpu_data_set_coordinates(handle, 2, static_cast<int>(i_), static_cast<int>(j_));
}

Data::~Data() {
  try {
    if (registered()) submit_deferred(true);
  } catch (const std::exception&) {
    // The task could not be submitted and is dropped; a destructor cannot report it.
  }
  if (slot_ != 0) state_->free_slot(slot_);
  state_->remove(*this);
  state_->host_leaving += reserved_;
  leave();
}

void Data::leave() noexcept {
  if (where_.home() >= 0 && where_.home() != state_->rank) return release();
  if (handle_ != nullptr && on_release_ == OnRelease::drop && host_accesses_ == 0 && combine_calls_.empty())
    // Submitted tasks keep the contents until they have run, so destroying an algorithm's temporary does not block.
    starpu_data_unregister_submit(static_cast<starpu_data_handle_t>(std::exchange(handle_, nullptr)));
  else
    release();
}

namespace {

/// Lets workers run that PausedWorkers paused: only a GPU's worker can copy its data home.
class RunningWorkers {
 public:
  RunningWorkers() {
    for (; starpu_is_paused() != 0; ++pauses_) starpu_resume();
  }
  ~RunningWorkers() {
    for (; pauses_ > 0; --pauses_) starpu_pause();
  }
  RunningWorkers(const RunningWorkers&) = delete;
  RunningWorkers& operator=(const RunningWorkers&) = delete;

 private:
  int pauses_ = 0;
};

}  // namespace

void Data::release() noexcept {
  // If this rank ends by an exception, others may never send.
  if (state_->messages != nullptr && (on_release_ == OnRelease::bring_home || where_.home() >= 0) && has_value() &&
      std::uncaught_exceptions() == 0)
    send_to_homes();
  if (handle_ == nullptr) return;
  auto* handle = static_cast<starpu_data_handle_t>(handle_);
  handle_ = nullptr;
  // An unreleased host access would make StarPU wait forever.
  for (int held = host_accesses_; held > 0; --held) starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
  const RunningWorkers running;
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
  if (!deferred_by_.compare_exchange_strong(nobody, graph) && nobody != graph) deferred_by_ = RuntimeState::every_graph;
  if (writes) defers_write_ = true;
}

void Data::submit_deferred(bool writes, std::uint64_t but) {
  if (state_->deferring_graph_count == 0) return;
  const std::uint64_t holder = deferred_by_;
  if (holder == 0 || holder == but || !(writes || defers_write_)) return;
  state_->submit_deferred(holder, but);
  defers_write_ = false;
  if (writes) deferred_by_ = 0;
}

void Data::require_alive() const {
  if (!state_->alive)
    throw LifetimeError(
        "a tile was used after the Runtime it belongs to was destroyed: destroy tiles and graphs first");
}

void* Data::handle() const {
  require_alive();
  if (handle_ == nullptr) enlist();
  return handle_;
}

void Data::set_label(std::shared_ptr<const std::string> name, index_t i, index_t j) {
  name_ = std::move(name);
  i_ = i;
  j_ = j;
  if (handle_ != nullptr)
    starpu_data_set_coordinates(static_cast<starpu_data_handle_t>(handle_), 2, static_cast<int>(i),
                                static_cast<int>(j));
  // All ranks have the contents of the home. The tile's rank writes it and runs the tasks that read it.
  if (state_->messages == nullptr || !has_home_) return;
  where_.set_place(state_->rank_of(i, j));
  where_.set_holder(where_.place());
}

std::string Data::label() const {
  if (name_ == nullptr) return {};
  return *name_ + "(" + std::to_string(i_) + "," + std::to_string(j_) + ")";
}

void Data::set_reduction(CodeletImpl& zero, CodeletImpl& combine, std::vector<std::byte> combine_call) {
  auto* registered = static_cast<starpu_data_handle_t>(handle());
  if (zero_ == &zero && combine_ == &combine) return;
  // The workers' parts of an earlier reduction would be combined by the new kernel.
  require(combine_ == nullptr, "Graph::reduction", "add", combine.name(), ": tile ", label(),
          " already has the reduction ", combine_ == nullptr ? "" : combine_->name());
  workers_for(zero, *state_);
  workers_for(combine, *state_);
  Data* const self[] = {this, this};
  reinterpret_cast<CallHeader*>(combine_call.data())->footprint = footprint(0, self);
  combine_calls_.push_back(std::move(combine_call));
  zero_ = &zero;
  combine_ = &combine;
  // No arguments for zero: StarPU 1.4 does not pass them to workers that begin a reduction (see run_variant).
  starpu_data_set_reduction_methods_with_args(registered, combine.starpu(), combine_calls_.back().data(), zero.starpu(),
                                              nullptr);
}

}  // namespace tesela::detail
