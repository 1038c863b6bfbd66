#pragma once

#include <string>
#include <vector>

namespace tesela {

/// One task of a recorded run.
struct TracedTask {
  std::string kernel;
  int worker = 0;
  double start = 0, end = 0;  ///< seconds from the start of the first task
};

/// Whether this build's StarPU records FxT events at all.
bool can_trace() noexcept;

/// Converts the events that a Runtime with trace_dir recorded (once that Runtime is destroyed) to paje.trace (for
/// ViTE), dag.dot, tasks.rec and the other files of StarPU's converter, all in `directory`. Throws EnvironmentError
/// when there is no record, when it cannot be converted, and when another process records or converts there. StarPU's
/// files have fixed names: from the Runtime's start to the end of convert_trace the directory is this process's.
void convert_trace(const std::string& directory);

/// The tasks in DIR/tasks.rec, by start time; StarPU's internal ones left out.
std::vector<TracedTask> read_tasks(const std::string& directory);

}  // namespace tesela
