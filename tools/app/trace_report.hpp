#pragma once

#include <tesela/runtime/trace.hpp>

#include <nlohmann/json.hpp>

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

/// Writes the page of a run (tesela::trace_page); `report`: the command's JSON object, or an empty one.
void write_trace_page(const Trace& trace, const nlohmann::json& report, const std::string& title,
                      const std::string& path);

/// Writes the page of a trace's last run. Returns false, with a message on standard error, if it holds no task.
bool report_trace(const std::string& directory, const std::string& path);

/// Writes the schedule as Chrome trace events (JSON) for Perfetto and about:tracing: a thread per worker, a complete
/// event per task with its priority, tiles, Gflop and waiting time since its insertion.
void write_trace_events(const Trace& trace, const std::string& path);

}  // namespace tesela::cli
