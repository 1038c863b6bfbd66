#pragma once

#include <tesela/runtime/trace.hpp>
#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tesela {

/// The tasks of one kernel on one kind of worker.
struct KernelSummary {
  std::string kernel;  ///< its name
  bool gpu = false;    ///< ran on GPUs, otherwise on cores
  index_t tasks = 0;   ///< their number
  double seconds = 0;  ///< sum of all tasks
  double median = 0;   ///< seconds
  double share = 0;    ///< of the seconds of all kernels
  double gflops = 0;   ///< GFLOP/s while they ran; 0 if the kernel counts no operations
};

/// The tasks of one kernel with one set of tile sizes on one kind of worker.
struct ModelSummary {
  std::string kernel, tiles;               ///< its name, and the sizes as in TracedTask
  bool gpu = false;                        ///< ran on GPUs, otherwise on cores
  index_t tasks = 0;                       ///< their number
  double least = 0, median = 0, most = 0;  ///< measured seconds
  double model = 0;                        ///< seconds that the performance model expects; 0 if unknown
};

/// A worker's time between the first start and the last end of all tasks: busy, or idle by five reasons.
struct WorkerSummary {
  int worker = 0;          ///< its number in the trace
  std::string name;        ///< "CPU 0"
  index_t tasks = 0;       ///< their number
  double busy = 0;         ///< in kernels
  double data = 0;         ///< waited for tiles of its next task; only a TaskRecorder knows it
  double ready = 0;        ///< some task was ready: for another kind of worker, in another queue, or on its way
  double insertion = 0;    ///< no task was ready, and one was only not inserted yet
  double dependences = 0;  ///< no task was ready: all others waited for running ones
  double end = 0;          ///< all tasks had started
};

/// Figures of a recorded run.
struct TraceSummary {
  double seconds = 0;                  ///< from the first start to the last end
  std::vector<KernelSummary> kernels;  ///< by seconds, the largest first
  std::vector<ModelSummary> models;    ///< by kernel and tiles
  std::vector<WorkerSummary> workers;  ///< all, also without tasks
  std::vector<std::size_t> path;       ///< critical path, indices of tasks
  double path_seconds = 0;             ///< its measured length
  // As in tesela::Bounds, with the median of the run where a model knows no time.
  double path_bound = 0, area_bound = 0;  ///< seconds
  index_t unmodelled = 0;                 ///< tasks whose time is such a median
  /// Returns the larger bound.
  double lower_bound() const { return path_bound > area_bound ? path_bound : area_bound; }
};

/// Returns the longest chain of tasks that depend on each other, by their measured durations, in order of time.
std::vector<std::size_t> critical_path(const std::vector<TracedTask>& tasks);

/// Returns the figures of a recorded run.
TraceSummary summarize(const Trace& trace);

/// Returns the tasks after the last mark alone, with times from the first of them on; the trace itself without marks.
Trace last_part(Trace trace);

/// Returns whether a worker of this name ("CUDA 0") is on a GPU.
bool is_gpu_worker(const std::string& name);

}  // namespace tesela
