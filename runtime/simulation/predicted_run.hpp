#pragma once

#include <tesela/runtime/machine/machine_times.hpp>
#include <tesela/runtime/simulation/simulated_machine.hpp>
#include <tesela/runtime/trace.hpp>

#include <string>
#include <vector>

namespace tesela {

/// A predicted run of a recorded graph, from Graph::predict, without the simulator.
///
/// After its predecessors a task goes to the worker with the earliest end of the task, including copies of its tiles
/// (as by StarPU's dmda). A worker begins the queued task of highest priority, and an idle core takes a task of the
/// fullest queue of a core. A link moves one tile after the other. Tiles begin in the host's memory, and GPUs' memories
/// have no limit. Each GPU runs one task at a time. Insertion and scheduling take no time.
struct PredictedRun {
  Trace trace{};                                    ///< its schedule; all tasks were inserted before it
  double seconds = 0;                               ///< end of the last task
  double task_seconds = 0;                          ///< sum of all tasks
  double interpolated_seconds = 0;                  ///< sum of the tasks with a shape without a measured time
  std::vector<std::string> interpolated_kernels{};  ///< models of these tasks
};

}  // namespace tesela
