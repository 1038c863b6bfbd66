#pragma once

#include <CLI/CLI.hpp>

#include <memory>

namespace tesela::cli {

/// The group of options that only --help-all shows.
inline constexpr const char* more_options = "More options";

/// Sorts a command's options into its common ones, grouped by purpose, and more_options. A command with few options
/// keeps them in one group.
void group_options(CLI::App& command);

/// Returns a formatter that prints --help, the common options with short texts, and --help-all, every option with its
/// whole text, in the columns of the terminal.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace tesela::cli
