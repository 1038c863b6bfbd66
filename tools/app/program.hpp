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

}  // namespace tesela::cli
