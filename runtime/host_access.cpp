#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>

#include <algorithm>

// Host accesses to a tile: wait, hold, release.

namespace tesela::detail {
namespace {

/// Throws the reason if tasks that write this data were dropped. A host access that writes also throws unreported
/// reasons, so that a loop that fills one tile repeatedly ends.
void throw_if_dropped(const Data& data, Mode mode) {
  const std::uint64_t reported = stops_reported;
  if (const TaskBatch* const part = data.writer().get(); part != nullptr && !part->over)
    throw_if_stopped_since(std::min(reported, part->seen));
  else if (mode != Mode::in)
    throw_if_stopped_since(reported);
}

void refuse_lost(const Data& data, const char* routine) {
  if (data.is_lost()) throw ArgumentError(routine, "tile " + data.label(), lost);
}

}  // namespace

TileMemory acquire_on_host(Data& data, Mode mode) {
  data.require_alive();
  if (mode != Mode::out && !data.has_value() && !data.has_reduction())
    throw ArgumentError(mode == Mode::in ? "Tile::read" : "Tile::update", "tile " + data.label(),
                        "nothing was written to it");
  if (mode != Mode::out) refuse_lost(data, mode == Mode::in ? "Tile::read" : "Tile::update");
  if (simulates && mode != Mode::out && data.status_number < 0) refuse_values(data);
  data.reserve(mode);
  data.submit_deferred(mode != Mode::in);
  if (data.state_->messages != nullptr) {
    for (int rank = 0; rank < data.state_->ranks; ++rank) data.state_->limit_received(rank);
    if (mode != Mode::out) data.bring_to_all();
  }
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  if (starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, to_starpu(mode)) != 0)
    throw EnvironmentError("a tile could not be copied to host memory");
  try {
    throw_if_dropped(data, mode);
  } catch (const Error&) {
    starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
    throw;
  }
  data.set_value(true);
  if (mode != Mode::in) data.set_writer(nullptr);
  if (data.state_->messages != nullptr && mode != Mode::in) data.record_write_by_all();
  data.host_accesses_ += mode == Mode::in ? 1 : RuntimeState::host_write;
  return tile_memory(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
}

void Data::acquire_home(Mode mode) {
  if (!has_home_ && where_.home() < 0) return;
  if (mode == Mode::in) refuse_lost(*this, "TileMatrix::bring_home");
  submit_deferred(mode != Mode::in);
  if (state_->messages != nullptr) {
    if (mode == Mode::in)
      send_to_homes();
    else
      where_.home() >= 0 ? record_write_at(where_.home()) : record_write_by_all();
  }
  if (has_home_) {
    auto* registered = static_cast<starpu_data_handle_t>(handle());
    if (starpu_data_acquire_on_node(registered, home_node_, to_starpu(mode)) != 0)
      throw EnvironmentError("a tile could not be copied to its home");
    starpu_data_release_on_node(registered, home_node_);
    throw_if_dropped(*this, mode);
  }
  set_value(true);
  if (mode != Mode::in) set_writer(nullptr);
}

void release_on_host(Data& data) noexcept {
  if (!data.registered()) return;
  data.host_accesses_ -= data.host_accesses_ >= RuntimeState::host_write ? RuntimeState::host_write : 1;
  starpu_data_release_on_node(static_cast<starpu_data_handle_t>(data.handle_), STARPU_MAIN_RAM);
}

int read_and_clear_status(Data& data) {
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  const bool alone = data.state_->messages == nullptr, here = alone || data.where_.at(data.state_->rank);
  const auto access = [&](starpu_data_access_mode mode) {
    if (starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, mode) != 0)
      throw EnvironmentError("a status could not be copied to host memory");
    int& value = *static_cast<int*>(tile_memory(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM)).data);
    const int found = value;
    if (mode == STARPU_W) value = 0;
    starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
    return found;
  };
  const int taken = here ? access(STARPU_R) : 0;
  // Written only if it changes, so that copies on GPUs stay valid.
  if (taken != 0 || !here) access(STARPU_W);
  data.set_writer(nullptr);
  if (!alone) data.record_write_by_all();
  return taken;
}

void wait_for_writes(Data& data) {
  data.require_alive();
  if (!data.has_value()) return;
  data.submit_deferred(false);
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  if (starpu_data_acquire_on_node(handle, STARPU_ACQUIRE_NO_NODE, STARPU_R) == 0)
    starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
}

bool lives_on_gpu(const Data& data) {
  if (!data.registered()) return false;
  const int node = starpu_data_get_home_node(static_cast<starpu_data_handle_t>(data.handle()));
  return node >= 0 && starpu_node_get_kind(static_cast<unsigned>(node)) == STARPU_CUDA_RAM;
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

}  // namespace tesela::detail
