#pragma once

#include <tesela/runtime/trace.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// Converts the trace in `directory`, after the Runtime was destroyed, to paje.trace, dag.dot and tasks.rec, and calls
/// draw_trace(). Prints their location on standard error unless `quiet`.
void finish_trace(const std::string& directory, bool quiet);

/// Returns whether a traced run may write a file of this name to its folder.
bool is_trace_file(const std::string& name);

/// Writes trace.svg (trace_picture, for the tasks between `from` and `to` seconds) and trace.json (write_trace_events)
/// from tasks.rec in `directory`; first converts StarPU's raw record if there is only that, as after a user's program.
/// Returns false, with a message on standard error, if no task was recorded.
bool draw_trace(const std::string& directory, double from = 0, double to = 0);

/// Draws the schedules of several traces with one time axis into `path` (trace_pictures), each under its directory's
/// name. Returns false, with a message on standard error, if a trace holds no task.
bool compare_traces(const std::vector<std::string>& directories, const std::string& path, double from, double to);

/// Returns the schedule as SVG: a row per worker, a bar per task in its kernel's declared colour, and a legend with
/// each kernel's tasks and their time. Stripes distinguish kernels of similar colours. A tooltip shows kernel, tiles,
/// start and duration of a task; dark edges mark the tasks of the critical path, and dashed lines the trace's marks.
/// Draws tasks between `from` and `to` seconds; `to` = 0 means the end.
std::string trace_picture(const Trace& trace, double from = 0, double to = 0);

/// A trace and its title in a picture of several.
struct TitledTrace {
  std::string title;
  Trace trace;
};
/// Returns the pictures of all traces, one below the other, from `from` to `to` seconds (0: the latest end of all).
std::string trace_pictures(const std::vector<TitledTrace>& traces, double from = 0, double to = 0);

/// Returns the longest chain of tasks that depend on each other, by their measured durations, in order of time.
std::vector<std::size_t> critical_path(const std::vector<TracedTask>& tasks);

/// Writes the schedule as Chrome trace events (JSON) for Perfetto and about:tracing: a thread per worker, a complete
/// event per task with its priority, tiles, Gflop and waiting time since its insertion.
void write_trace_events(const Trace& trace, const std::string& path);

}  // namespace tesela::cli
