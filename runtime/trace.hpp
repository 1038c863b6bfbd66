#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tesela {

/// One task of a recorded run.
struct TracedTask {
  std::string kernel;                     ///< its name
  int worker = 0;                         ///< number of the worker
  double start = 0, end = 0;              ///< seconds from the start of the first task
  double submitted = 0;                   ///< seconds on the same clock; negative if inserted before the first task ran
  std::uint64_t id = 0;                   ///< StarPU's number of the task, as in dag.dot
  int priority = 0;                       ///< Priority::value
  double gflop = 0;                       ///< 0 if the kernel counts none
  std::string tiles;                      ///< "256x256x8 256x64x8": rows, columns and bytes an element of each
  std::vector<std::uint64_t> depends_on;  ///< numbers of the tasks that had to end before
};

/// A named moment of a recorded run, see Runtime::mark_trace.
struct TraceMark {
  double seconds;    ///< on the clock of the tasks
  std::string name;  ///< text of the mark
};

/// The recorded tasks of a run.
struct Trace {
  std::vector<TracedTask> tasks;                ///< by start time, without StarPU's internal tasks
  std::size_t incomplete = 0;                   ///< tasks left out: the recording began or ended while they ran
  std::vector<TraceMark> marks;                 ///< by time
  std::map<int, std::string> workers;           ///< "CPU 0", "CUDA 0"; with several streams "CUDA 0.1"
  std::map<std::string, std::uint32_t> colors;  ///< 0xRRGGBB of each kernel, as in ViTE and dag.dot
};

/// Returns whether this build's StarPU can record FxT events.
bool can_trace() noexcept;

/// Converts the events that a Runtime with trace_dir recorded to paje.trace (for ViTE), dag.dot and tasks.rec.
///
/// directory  the Runtime's trace_dir; StarPU's file names are fixed, so only this process may use it from the
///            Runtime's start to the end of convert_trace. The Runtime must be destroyed first.
/// Throws     EnvironmentError if there is no record, if it cannot be converted, or if another process records or
///            converts there.
void convert_trace(const std::string& directory);

/// Reads the tasks from DIR/tasks.rec, and the workers' names and the kernels' colours from DIR/paje.trace if it
/// exists.
///
/// Throws   FileError if tasks.rec cannot be read, and EnvironmentError if it is cut short or if a task's number,
///          worker or time is malformed: a time is finite, and no task ends before it starts.
Trace read_trace(const std::string& directory);

}  // namespace tesela
