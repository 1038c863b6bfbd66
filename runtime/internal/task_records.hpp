#pragma once

// The records of a TaskRecorder: internal to the runtime.

#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/trace.hpp>

#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tesela::detail {

/// The tasks of all graphs in order of insertion. RuntimeState::records_mutex protects it.
class TaskRecords {
 public:
  /// `before`: number of the last record of earlier recorders.
  TaskRecords(std::uint32_t before, RuntimeState& state);

  /// Appends a task and returns its number.
  std::uint32_t add(CodeletImpl& codelet, std::uint32_t footprint, std::span<Data* const> tiles, double flops);
  /// Adds the label of a task's tile and the numbers of its predecessors; numbers of earlier recorders are ignored.
  void describe(std::uint32_t number, const std::string& label, const std::vector<std::uint32_t>& predecessors);
  /// Adds the times of a task that has run on this worker, and a sample now and then. The task has its number as tag,
  /// and a profile.
  void finish(const starpu_task& task, int worker, RuntimeState& state);
  std::uint32_t last_number() const { return before_ + static_cast<std::uint32_t>(tasks_.size()); }

  /// Returns the tasks that have run.
  Trace trace(RuntimeState& state);

 private:
  using Kind = std::pair<CodeletImpl*, std::uint32_t>;  // with the footprint
  struct Task {
    const std::pair<const Kind, std::string>* kind;
    std::uint64_t id = 0;
    double gflop = 0;
    std::string label = {};
    std::vector<std::uint32_t> predecessors = {};  // numbers
    int worker = -1;                               // -1: has not run
    int priority = 0;
    double submitted = 0, fetch_begin = 0, fetch_end = 0, start = 0, end = 0;  // seconds on StarPU's clock
  };
  Task& task(std::uint32_t number) { return tasks_[number - before_ - 1]; }
  void sample(double seconds, RuntimeState& state);

  std::uint32_t before_;
  double begin_;
  std::deque<Task> tasks_;
  std::map<Kind, std::string> kinds_;  // the tiles' sizes: "256x256x8 256x64x8"
  std::vector<double> moved_before_;
  std::vector<TraceSample> samples_;
  double interval_ = 5e-4, next_sample_ = 0;  // seconds
};

}  // namespace tesela::detail
