#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::cli {

// The progress of a command: one line on standard error, if that is a terminal, from half a second after the begin of a
// stage. It has the elapsed time and, if the stage is measured, the remaining time. A thread draws it ten times a
// second.

enum class Stage : std::uint8_t {
  input,     ///< reads files, measured by their bytes, or generates
  solving,   ///< runs tasks
  checking,  ///< measures the errors of the result
  writing,   ///< writes files
  ending,    ///< other work after the tasks
};

/// Starts to show progress, at the stage `input`; does nothing without a terminal. Returns whether it started.
bool start_progress();
/// Makes start_progress() do nothing, for --quiet.
void forbid_progress();
/// Begins the next stage. `tasks` that are unfinished measure it; 0: nothing does.
void show_progress(Stage stage, index_t tasks = 0);
/// Ends the display and removes its line, so that other lines can be printed; does nothing if there is none.
void end_progress();

}  // namespace tesela::cli
