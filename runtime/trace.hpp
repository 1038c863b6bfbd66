#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tesela {

/// One task of a recorded run.
struct TracedTask {
  std::string kernel;
  int worker = 0;
  double start = 0, end = 0;  ///< seconds from the start of the first task
  double submitted = 0;       ///< the same; before 0 for what was inserted before anything ran
  std::uint64_t id = 0;       ///< StarPU's number of it, as in dag.dot
  int priority = 0;
  double gflop = 0;   ///< 0 where the kernel counts none
  std::string tiles;  ///< "256x256x8 256x64x8": rows, columns and bytes an element of each
};

/// What was recorded of a run.
struct Trace {
  std::vector<TracedTask> tasks;                ///< by start time; StarPU's internal ones left out
  std::size_t incomplete = 0;                   ///< tasks left out: the recording began or ended while they ran
  std::map<int, std::string> workers;           ///< "CPU 0", "CUDA 0", with several streams "CUDA 0.1"
  std::map<std::string, std::uint32_t> colors;  ///< 0xRRGGBB of each kernel, as ViTE and dag.dot show it
};

/// Whether this build's StarPU records FxT events at all.
bool can_trace() noexcept;

/// Converts the events that a Runtime with trace_dir recorded (once that Runtime is destroyed) to paje.trace (for
/// ViTE), dag.dot, tasks.rec and the other files of StarPU's converter, all in `directory`. Throws EnvironmentError
/// when there is no record, when it cannot be converted, and when another process records or converts there. StarPU's
/// files have fixed names: from the Runtime's start to the end of convert_trace the directory is this process's.
void convert_trace(const std::string& directory);

/// The tasks in DIR/tasks.rec, and from DIR/paje.trace, if it is there, the workers' names and the kernels' colours.
/// Throws FileError when tasks.rec cannot be read, and EnvironmentError when it is cut short, or when a task's number,
/// worker or time is malformed: a time is finite, and no task ends before it starts.
Trace read_trace(const std::string& directory);

}  // namespace tesela
