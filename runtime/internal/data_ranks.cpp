#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <memory>

// Contents of tiles over ranks: which ranks have them, and how they are sent.

namespace tesela::detail {
namespace {

using Graph = std::shared_ptr<GraphTasks>;

/// Counts a message as one more task that the graph waits for; returns the argument for Messages.
void* counted(const Graph& graph) {
  if (!graph) return nullptr;
  ++graph->unfinished;
  return new Graph(graph);
}

void count_out(void* argument) {
  if (argument == nullptr) return;
  const std::unique_ptr<Graph> graph(static_cast<Graph*>(argument));
  (*graph)->finish();
}

}  // namespace

void TileLocation::spread(int ranks) {
  auto* const words = new std::uint64_t[static_cast<std::size_t>(ranks + 63) / 64]();
  if (kind_ == near) words[0] = bits_;
  if (kind_ >= 0) words[kind_ / 64] |= std::uint64_t{1} << kind_ % 64;
  for (int rank = 0; kind_ == all && rank < ranks; ++rank) words[rank / 64] |= std::uint64_t{1} << rank % 64;
  kind_ = far;
  words_ = words;
}

void TileLocation::add(int rank, int ranks) {
  if (at(rank)) return;
  if (kind_ == none) {
    kind_ = static_cast<std::int16_t>(rank);
    return;
  }
  if (kind_ >= 0 && kind_ < 64 && rank < 64) {
    bits_ = std::uint64_t{1} << kind_;
    kind_ = near;
  } else if (kind_ != far && (kind_ != near || rank >= 64)) {
    spread(ranks);
  }
  std::uint64_t* const words = kind_ == near ? &bits_ : words_;
  words[rank / 64] |= std::uint64_t{1} << rank % 64;
  if (kind_ == near && ranks > 64) return;
  for (int first = 0; first < ranks; first += 64)
    if (words[first / 64] != ~std::uint64_t{0} >> (64 - std::min(ranks - first, 64))) return;
  clear();
  kind_ = all;
}

void TileLocation::remove(int rank, int ranks) {
  if (!at(rank)) return;
  if (kind_ == rank) return clear();
  if (kind_ == all) spread(ranks);
  (kind_ == near ? bits_ : words_[rank / 64]) &= ~(std::uint64_t{1} << rank % 64);
}

void Data::set_home_rank(int rank) {
  if (state_->messages == nullptr) return;
  where_.set_place(rank);
  where_.set_home(rank);
  record_write_at(rank);
  set_value(true);
}

void Data::send_to(int rank, int priority, const Graph& graph) {
  if (where_.at(rank) || where_.holder() < 0) return;
  Messages& messages = *state_->messages;
  const auto tag = static_cast<std::int64_t>(id << Messages::count_bits | messages_++);
  if (where_.holder() == state_->rank) {
    state_->bytes_sent += bytes();
    messages.send(handle(), rank, tag, priority, &count_out, counted(graph));
  } else if (rank == state_->rank) {
    reserve(Mode::out);
    state_->bytes_received += bytes();
    messages.receive(handle(), where_.holder(), tag, priority, &count_out, counted(graph));
  }
  where_.add(rank, state_->ranks);
  record_copy(rank);
}

void Data::bring_to_all() {
  for (int rank = 0; rank < state_->ranks; ++rank) send_to(rank, 0, {});
}

void Data::send_to_homes() { where_.home() >= 0 ? send_to(where_.home(), 0, {}) : bring_to_all(); }

void Data::record_copy(int rank) {
  if (where_.home() >= 0 ? where_.home() == rank : has_home_) return;
  if (slot_ == 0) slot_ = state_->allocate_slot(*this);
  auto& received = state_->received[static_cast<std::size_t>(rank)];
  // Registration also needs memory.
  const std::size_t kib = bytes() / 1024 + 8;
  received.copies.push({slot_, state_->versions[slot_].number, static_cast<std::uint32_t>(kib)});
  received.kib += kib;
}

std::uint32_t RuntimeState::allocate_slot(Data& data) {
  const std::lock_guard lock(mutex);
  if (free_slots.empty()) {
    free_slots.push_back(static_cast<std::uint32_t>(versions.size()));
    versions.emplace_back();
  }
  const std::uint32_t slot = free_slots.back();
  free_slots.pop_back();
  versions[slot].data = &data;
  return slot;
}

void RuntimeState::free_slot(std::uint32_t slot) {
  const std::lock_guard lock(mutex);
  ++versions[slot].number;
  free_slots.push_back(slot);
}

void Data::changes() noexcept {
  if (slot_ != 0) ++state_->versions[slot_].number;
}

bool Data::drop_copy(int rank) {
  if (rank == where_.holder() || host_accesses_ != 0 || !combine_calls_.empty()) return false;
  where_.remove(rank, state_->ranks);
  if (rank != state_->rank || handle_ == nullptr) return true;
  starpu_data_unregister_no_coherency(static_cast<starpu_data_handle_t>(std::exchange(handle_, nullptr)));
  state_->host_used -= std::exchange(reserved_, 0);
  return true;
}

void RuntimeState::limit_received(int receiver) {
  auto& [copies, kib] = received[static_cast<std::size_t>(receiver)];
  for (std::size_t looked = copies.size(); kib * 1024 > received_limit && looked > 0; --looked) {
    const Received::Copy oldest = copies.pop();
    const Version& now = versions[oldest.slot];
    if (now.number != oldest.version || now.data->drop_copy(receiver))
      kib -= oldest.kib;
    else
      copies.push(oldest);
    if (copies.size() > 0) __builtin_prefetch(&versions[copies.front().slot]);  // for the next call
  }
}

void Data::release_copy() noexcept {
  if (has_home_ || handle_ == nullptr || host_accesses_ != 0 || !combine_calls_.empty()) return;
  starpu_data_unregister_submit(static_cast<starpu_data_handle_t>(std::exchange(handle_, nullptr)));
  state_->host_leaving += std::exchange(reserved_, 0);
}

void Data::record_write_at(int rank) {
  if (where_.place() < 0) where_.set_place(rank);
  where_.written_at(rank);
  changes();
  // The received copy is stale; it is freed after the tasks that read it.
  if (rank != state_->rank) release_copy();
}

void Data::record_write_by_all() {
  changes();
  where_.written_by_all(std::max(where_.place(), 0));
  if (has_home_ && where_.home() < 0) return;  // a home is no copy
  for (int rank = 0; rank < state_->ranks; ++rank)
    if (rank != where_.holder()) record_copy(rank);
}

int Data::default_owner() const { return state_->rank_of(i_, j_); }

void Data::forgotten() {
  where_.written_at(-1);
  changes();
  release_copy();
  if (handle_ != nullptr) starpu_data_invalidate_submit(static_cast<starpu_data_handle_t>(handle_));
}

}  // namespace tesela::detail
