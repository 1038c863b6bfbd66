#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::cli {

/// The group of options that only --help-all shows.
inline constexpr const char* more_options = "More options";

/// Sorts a command's options into its common ones, grouped by purpose, and more_options. A command with few options
/// keeps them in one group.
void group_options(CLI::App& command);

/// Returns a formatter that prints --help, the common options with short texts, and --help-all, every option with its
/// whole text, in the columns of the terminal.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Returns the text without its remarks in parentheses, except defaults; "op(A)" is no remark.
std::string without_remarks(std::string_view text);

/// Adds `tesela completion SHELL`, which prints a script of all commands and options of the program for a shell.
void add_completion(CLI::App& program);

/// Returns the most similar word, with at most two mistakes; empty if there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

/// Returns the message for a word that is no command of the group. It names the commands for a word of other libraries
/// ("solve", "svd", "dgesv"), or the most similar command.
std::string unknown_command(const CLI::App& group, const std::string& word);

/// Returns "name its option, as in --b FILE" if the file exists and an option for a file is unused; otherwise an empty
/// text. `instead_of` is the option that got the file by mistake: --b for --rhs.
std::string option_for_file(const CLI::App& command, const std::string& path, const std::string& instead_of = "");

/// Returns the message for options that the command does not have, with the most similar ones.
std::string unknown_options(const CLI::App& command, const std::vector<std::string>& words);

}  // namespace tesela::cli
