#include <tesela/runtime/internal/task_records.hpp>
#include <tesela/runtime/trace/task_recorder.hpp>

#include <utility>

namespace tesela {

TaskRecorder::TaskRecorder(Runtime& runtime) : state_(runtime.state()), profiled_before_(state_->profile) {
  if (!state_->alive) throw LifetimeError("TaskRecorder: its Runtime was destroyed");
  const std::lock_guard lock(state_->records_mutex);
  if (state_->records != nullptr) throw LifetimeError("TaskRecorder: another one records; stop it first");
  if (!profiled_before_) {
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    state_->profile = true;
  }
  state_->records = std::make_unique<detail::TaskRecords>(state_->records_before, *state_);
  state_->recording = true;
}

TaskRecorder::~TaskRecorder() {
  if (records_ && state_->alive) static_cast<void>(stop());
}

Trace TaskRecorder::stop() {
  if (!std::exchange(records_, false)) throw LifetimeError("TaskRecorder: it has stopped");
  if (!state_->alive) throw LifetimeError("TaskRecorder: its Runtime was destroyed");
  const std::unique_ptr<detail::TaskRecords> records = state_->take_records();
  if (!profiled_before_) {
    state_->profile = false;
    starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
  }
  return records->trace(*state_);
}

}  // namespace tesela
