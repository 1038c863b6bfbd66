#pragma once

#include <string>

namespace tesela::cli {

/// Converts the trace in `directory`, after the Runtime was destroyed, to paje.trace, dag.dot and tasks.rec, and calls
/// draw_trace(). Prints their location on standard error.
void finish_trace(const std::string& directory);

/// Returns whether a traced run may write a file of this name to its folder.
bool is_trace_file(const std::string& name);

/// Writes trace.svg (trace_picture, for the tasks between `from` and `to` seconds) and trace.json (write_trace_events)
/// from tasks.rec in `directory`; first converts StarPU's raw record if there is only that, as after a user's program.
/// Returns false, with a message on standard error, if no task was recorded.
bool draw_trace(const std::string& directory, double from = 0, double to = 0);

}  // namespace tesela::cli
