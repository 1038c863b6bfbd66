#include <tesela/runtime/data.hpp>
#include <tesela/runtime/internal/starpu.hpp>

#include <memory>

// What is in a tile, over ranks: who has it, and how others get it.

namespace tesela::detail {
namespace {

using Graph = std::shared_ptr<GraphTasks>;

/// For Messages: one more task that the graph waits for.
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

void Data::bring_to(int rank, int priority, const Graph& graph) {
  if (where_.at(rank) || where_.holder < 0) return;
  Messages& messages = *state_->messages;
  const auto tag = static_cast<std::int64_t>(id);
  if (where_.holder == state_->rank) {
    state_->bytes_sent += bytes();
    messages.send(handle(), rank, tag, priority, &count_out, counted(graph));
  } else if (rank == state_->rank) {
    state_->bytes_received += bytes();
    messages.receive(handle(), where_.holder, tag, priority, &count_out, counted(graph));
  }
  where_.copies |= std::uint64_t{1} << rank;
}

void Data::bring_to_all() {
  for (int rank = 0; rank < state_->ranks; ++rank) bring_to(rank, 0, {});
}

void Data::written_at(int rank) {
  if (where_.place < 0) where_.place = rank;
  where_.holder = rank;
  where_.copies = std::uint64_t{1} << rank;
  // What was received is of no use any more; its memory goes once the tasks that read it have run.
  if (rank != state_->rank && !has_home_ && handle_ != nullptr && held_on_host_ == 0 && combine_calls_.empty())
    starpu_data_unregister_submit(static_cast<starpu_data_handle_t>(std::exchange(handle_, nullptr)));
}

void Data::written_by_all() {
  where_.holder = where_.place < 0 ? 0 : where_.place;
  where_.copies = ~std::uint64_t{0} >> (64 - state_->ranks);
}

int Data::usual_place() const { return state_->rank_of(i_, j_); }

void Data::forgotten() {
  where_.holder = -1;
  where_.copies = 0;
}

}  // namespace tesela::detail
