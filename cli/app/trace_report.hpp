#pragma once

#include <string>

namespace tesela::cli {

/// Turns what a traced Runtime left in `directory` (once it is destroyed) into paje.trace, dag.dot and tasks.rec, and
/// draws trace.svg: a row per worker, a bar per task, a colour per kernel. Says on standard error where they are.
void finish_trace(const std::string& directory);

/// Whether a traced run may leave a file of this name in its folder.
bool is_trace_file(const std::string& name);

/// Draws trace.svg from the tasks.rec in `directory`, made first where there is but StarPU's raw record, as a user's
/// own program leaves it. When it could not be drawn, says so on standard error and answers false.
bool draw_trace(const std::string& directory);

}  // namespace tesela::cli
