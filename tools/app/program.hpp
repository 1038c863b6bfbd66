#pragma once

#include <string>
#include <vector>

namespace tesela::cli {

/// Returns the words of a command line without the program's name; `help COMMAND…` becomes `COMMAND… --help`,
/// and with --all `COMMAND… --help-all`.
std::vector<std::string> words_of(int argc, char** argv);

/// Returns the first word that is not an option, and so names a command or a group of commands.
std::vector<std::string>::iterator command_in(std::vector<std::string>& words);

/// Runs `tesela WORDS…` if the program contains a command with this name. Reports errors, handles signals, and returns
/// the exit code.
int run_program(std::vector<std::string> words);

/// Ends the process with this exit code. Skips the destructors of CUDA's libraries, which take longer than most
/// commands, unless this process is a rank or a tool that reports at the exit observes it.
[[noreturn]] void end_program(int code);

/// Makes Ctrl-C, SIGTERM, SIGHUP and every other signal that ends a process, except those of a fault, cancel the graph.
/// A process that has not ended half a second later is terminated and its unfinished output removed. In both cases it
/// returns 128 + the signal's number. Signals that are ignored or have a handler are not changed.
void stop_on_interrupt();

/// Returns whether a signal has arrived that cancels the process.
bool was_interrupted();
/// Returns the exit code of a cancelled process: 128 + the number of the signal that cancelled it, so 130 after Ctrl-C.
int interrupted();

/// The end of a simulated command, after its report: nothing follows the timed runs.
struct Simulated {
  int code;
};

}  // namespace tesela::cli
