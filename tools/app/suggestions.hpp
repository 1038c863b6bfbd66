#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tesela::cli {

/// Returns the most similar word, with at most two mistakes; empty if there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

/// Returns the message for a word that is no command of the group. It names the commands for a word of other libraries
/// ("solve", "svd", "dgesv"), or the most similar command.
std::string unknown_command(const CLI::App& group, const std::string& word);

/// Returns the message for options that the command does not have, with the most similar ones.
std::string unknown_options(const CLI::App& command, const std::vector<std::string>& words);

}  // namespace tesela::cli
