#pragma once

#include <string>
#include <vector>

namespace tesela::cli {

/// The words of a command line, without the program's name; `help COMMAND…` is `COMMAND… --help`, with --all
/// `COMMAND… --help-all`.
std::vector<std::string> words_of(int argc, char** argv);

/// The first word that is no option, and so names a command or a group of commands.
std::vector<std::string>::iterator command_in(std::vector<std::string>& words);

/// Runs `tesela WORDS…`, where a command that registered itself in this program has that name. Tells what went wrong,
/// ends well at signals, and answers what the process does.
int run_program(std::vector<std::string> words);

}  // namespace tesela::cli
