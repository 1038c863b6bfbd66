#include <tesela/runtime/internal/dynamic_call.hpp>
#include <tesela/runtime/internal/simulation.hpp>
#include <tesela/runtime/internal/task_records.hpp>

#include <chrono>

// Counts a graph's unfinished tasks and wakes the threads that wait for the last one.

namespace tesela::detail {
namespace {

void record_use(const starpu_task* task) {
  const int worker = starpu_worker_get_id();
  if (worker < 0 || task->profiling_info == nullptr) return;
  const double us = starpu_timing_timespec_delay_us(const_cast<timespec*>(&task->profiling_info->start_time),
                                                    const_cast<timespec*>(&task->profiling_info->end_time));
  const auto& call = *static_cast<const CallHeader*>(task->cl_arg);
  auto& use = call.codelet->uses[worker];
  use.tasks.fetch_add(1, std::memory_order_relaxed);
  use.nanoseconds.fetch_add(static_cast<std::uint64_t>(us * 1e3), std::memory_order_relaxed);
  if (simulates) count_simulated(*task, worker);
  RuntimeState& state = *call.graph->runtime;
  if (task->tag_id == 0 || !state.recording) return;
  const std::lock_guard lock(state.records_mutex);
  if (state.records != nullptr) state.records->finish(*task, worker, state);
}

}  // namespace

void RuntimeState::wait_for(const GraphTasks& graph, const std::function<void()>& after_a_second) {
  starpu_do_schedule();  // some schedulers need it
  if (simulates) return wait_for_simulated(graph);
  ++waiting;
  {
    std::unique_lock lock(waiting_mutex);
    const auto finished = [&] { return graph.unfinished == 0; };
    if (after_a_second && !all_finished.wait_for(lock, std::chrono::seconds(1), finished)) {
      lock.unlock();
      after_a_second();
      lock.lock();
    }
    all_finished.wait(lock, finished);
  }
  --waiting;
}

void GraphTasks::finish() noexcept {
  RuntimeState& state = *runtime;
  if (--unfinished != 0 || state.waiting == 0) return;
  const std::lock_guard lock(state.waiting_mutex);
  state.all_finished.notify_all();
}

void finish_task(void* argument) {
  auto& call = *static_cast<CallHeader*>(static_cast<const starpu_task*>(argument)->cl_arg);
  release_call(call);
  call.graph->finish();
}

void finish_profiled_task(void* argument) {
  record_use(static_cast<const starpu_task*>(argument));
  finish_task(argument);
}

}  // namespace tesela::detail
