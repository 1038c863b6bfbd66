#include "runtime/data.hpp"

#include <algorithm>
#include <limits>

#include "runtime/starpu.hpp"

namespace tesela::detail {
namespace {

// Accesses of these kinds may run together (or in any order) within one group.
bool shareable(Mode mode) { return mode == Mode::in || mode == Mode::commute || mode == Mode::reduce; }

}  // namespace

double AccessHistory::begin(std::uint64_t graph_id, Mode mode) {
  if (graph != graph_id) {
    *this = AccessHistory{};
    graph = graph_id;
    kind = mode;
  } else if (mode != kind || !shareable(mode)) {
    kind = mode;
    previous_end = current_end;
    std::swap(previous, current);
    current.clear();
  }
  return previous_end;
}

Data::Data(Runtime& runtime, void* home, Shape shape, index_t ld, std::size_t element_size, OnRelease on_release)
    : state_(runtime.state()), shape_(shape), element_size_(element_size), on_release_(on_release) {
  if (!state_->alive) throw LifetimeError("Data: the Runtime it is registered with is gone");
  const index_t limit = std::numeric_limits<std::uint32_t>::max();
  if (shape.rows <= 0 || shape.cols <= 0 || shape.rows > limit || shape.cols > limit || ld > limit)
    throw ArgumentError("Data", "shape", std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
                                             " with leading dimension " + std::to_string(ld) +
                                             " (each from 1 to 2^32 - 1)");
  starpu_data_handle_t handle = nullptr;
  starpu_matrix_data_register(&handle, home != nullptr ? STARPU_MAIN_RAM : -1, reinterpret_cast<uintptr_t>(home),
                              static_cast<std::uint32_t>(home != nullptr ? ld : shape.rows),
                              static_cast<std::uint32_t>(shape.rows), static_cast<std::uint32_t>(shape.cols),
                              element_size);
  handle_ = handle;
  state_->add(*this);
}

Data::~Data() {
  state_->remove(*this);
  release();
}

void Data::release() noexcept {
  if (handle_ == nullptr) return;
  auto* handle = static_cast<starpu_data_handle_t>(handle_);
  handle_ = nullptr;
  if (on_release_ == OnRelease::bring_home)
    starpu_data_unregister(handle);
  else
    starpu_data_unregister_no_coherency(handle);
}

void* Data::handle() const {
  if (handle_ == nullptr)
    throw LifetimeError("a tile was used after the Runtime it belongs to was destroyed: destroy tiles and graphs first");
  return handle_;
}

void Data::set_label(std::shared_ptr<const std::string> name, index_t i, index_t j) {
  name_ = std::move(name);
  i_ = i;
  j_ = j;
  starpu_data_set_coordinates(static_cast<starpu_data_handle_t>(handle()), 2, static_cast<int>(i),
                              static_cast<int>(j));
}

std::string Data::label() const {
  if (name_ == nullptr) return {};
  return *name_ + "(" + std::to_string(i_) + "," + std::to_string(j_) + ")";
}

void Data::set_reduction(CodeletImpl& zero, CodeletImpl& combine, std::vector<std::byte> zero_call,
                         std::vector<std::byte> combine_call) {
  zero_call_ = std::move(zero_call);
  combine_call_ = std::move(combine_call);
  Data* const self[] = {this, this};
  reinterpret_cast<CallHeader*>(zero_call_.data())->footprint = footprint(0, std::span(self, 1));
  reinterpret_cast<CallHeader*>(combine_call_.data())->footprint = footprint(0, self);
  starpu_data_set_reduction_methods_with_args(static_cast<starpu_data_handle_t>(handle()), combine.starpu(),
                                              combine_call_.data(), zero.starpu(), zero_call_.data());
}

TileMemory acquire_on_host(Data& data, Mode mode) {
  auto* handle = static_cast<starpu_data_handle_t>(data.handle());
  if (starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, to_starpu(mode)) != 0)
    throw EnvironmentError("a tile could not be brought to host memory");
  return tile_memory(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
}

void release_on_host(Data& data) noexcept {
  if (data.registered())
    starpu_data_release_on_node(static_cast<starpu_data_handle_t>(data.handle()), STARPU_MAIN_RAM);
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

void RuntimeState::release_all() noexcept {
  const std::lock_guard lock(mutex);
  for (Data* data = registered; data != nullptr; data = data->next_) data->release();
}

}  // namespace tesela::detail
