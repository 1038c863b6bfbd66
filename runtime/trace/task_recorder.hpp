#pragma once

#include <tesela/runtime/trace.hpp>

#include <memory>

namespace tesela {

class Runtime;

/// Records the tasks of all graphs of a Runtime in memory while it exists. Any StarPU can, also one without FxT.
///
/// A graph made during the recording keeps its dependences (GraphOptions::record). Times cost about 1 µs a task.
class TaskRecorder {
 public:
  /// Throws LifetimeError if another TaskRecorder of the Runtime records.
  explicit TaskRecorder(Runtime& runtime);
  ~TaskRecorder();
  TaskRecorder(const TaskRecorder&) = delete;
  TaskRecorder& operator=(const TaskRecorder&) = delete;

  /// Ends the recording. Returns the tasks that were inserted since the beginning and have run; Trace::incomplete
  /// counts the others.
  ///
  /// Throws   LifetimeError if it has ended, or the Runtime has.
  Trace stop();

 private:
  std::shared_ptr<detail::RuntimeState> state_;
  bool records_ = true, profiled_before_;
};

}  // namespace tesela
