#pragma once

#include <string>

namespace tesela::cli {

/// Turns what a traced Runtime left in `directory` (once it is destroyed) into paje.trace, dag.dot and tasks.rec, and
/// writes what draw_trace does. Says on standard error where they are.
void finish_trace(const std::string& directory);

/// Whether a traced run may leave a file of this name in its folder.
bool is_trace_file(const std::string& name);

/// Writes trace.svg (trace_picture, of what runs between `from` and `to` seconds) and trace.json (write_trace_events)
/// from the tasks.rec in `directory`, made first where there is but StarPU's raw record, as a user's own program leaves
/// it. Where no task was recorded, says so on standard error and answers false.
bool draw_trace(const std::string& directory, double from = 0, double to = 0);

}  // namespace tesela::cli
