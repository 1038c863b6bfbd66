#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/internal/task_records.hpp>
#include <tesela/runtime/paused_workers.hpp>

#include <string>
#include <utility>

namespace tesela {

PausedWorkers::PausedWorkers() {
  if (starpu_is_initialized() != 0) starpu_pause();
}
PausedWorkers::~PausedWorkers() {
  if (starpu_is_initialized() != 0) starpu_resume();
}

namespace detail {

RuntimeState::RuntimeState() = default;
RuntimeState::~RuntimeState() = default;

std::unique_ptr<TaskRecords> RuntimeState::take_records() {
  const std::lock_guard lock(records_mutex);
  recording = false;
  if (records != nullptr) records_before = records->last_number();
  return std::move(records);
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

bool RuntimeState::still_blocks(const Data* data, std::uint64_t id, Mode mode) {
  const std::lock_guard lock(mutex);
  for (const Data* live = registered; live != nullptr; live = live->next_)
    if (live == data) return live->id == id && blocks(*live, mode);
  return false;
}

void RuntimeState::submit_deferred(std::uint64_t graph, std::uint64_t but) {
  if (deferring_graph_count == 0) return;
  const std::lock_guard lock(holding_mutex);  // no graph ends meanwhile
  for (const auto& [id, submission] : holding)
    if (id != but && (graph == every_graph || graph == id)) submission();
}

void RuntimeState::reserve_host(std::size_t bytes) {
  if ((host_used += bytes) <= host_limit) return;
  // StarPU would retry forever. Memory of destroyed tiles is free once their tasks have run.
  submit_deferred(every_graph);
  starpu_task_wait_for_all();
  host_used -= host_leaving.exchange(0);
  if (host_used <= host_limit) return;
  const std::size_t wanted = host_used;
  host_used -= bytes;
  throw EnvironmentError("tiles need " + std::to_string((wanted + (1 << 20) - 1) >> 20) +
                         " MiB of host memory, and StarPU may allocate " + std::to_string(host_limit >> 20) +
                         " MiB: raise or unset " + host_limited_by);
}

void RuntimeState::release_all() noexcept {
  const std::lock_guard lock(mutex);
  for (Data* data = registered; data != nullptr; data = data->next_) data->release();
}

}  // namespace detail
}  // namespace tesela
