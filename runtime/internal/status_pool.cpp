#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/internal/status_pool.hpp>

#include <algorithm>
#include <utility>

namespace tesela::detail {

std::unique_ptr<Data> StatusPool::take(Runtime& runtime) {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) {
    constexpr std::size_t together = 64;
    memory_.push_back(std::make_unique<HostBuffer>(runtime, together * sizeof(int)));
    int* const memory = static_cast<int*>(memory_.back()->data());
    std::fill_n(memory, together, 0);
    for (std::size_t i = together; i-- > 0;)
      spare_.push_back(
          std::make_unique<Data>(runtime, memory + i, Shape{1, 1}, 1, sizeof(int), Data::OnRelease::bring_home));
  }
  std::unique_ptr<Data> status = std::move(spare_.back());
  spare_.pop_back();
  return status;
}

void StatusPool::give_back(std::unique_ptr<Data> status, bool at_home, bool among_ranks) noexcept {
  try {
    const auto is_zero = [&] {
      if (!at_home) return *HostAccess<const int>(*status, Mode::in).data == 0;
      auto* const handle = static_cast<starpu_data_handle_t>(status->handle());
      return *static_cast<const int*>(tile_memory(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM)).data) ==
             0;
    };
    if (among_ranks)
      read_and_clear_status(*status);
    else if (!is_zero())
      *HostAccess<int>(*status, Mode::out).data = 0;
    status->set_writer(nullptr);
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(status));
  } catch (const std::exception&) {
    // It is destroyed here: dropped tasks may not have written it.
  }
}

void StatusPool::clear() {
  spare_.clear();
  memory_.clear();
}

}  // namespace tesela::detail
