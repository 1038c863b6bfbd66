#pragma once

#include <CLI/CLI.hpp>

#include <memory>

namespace tesela::cli {

/// Sorts a command's options into its common ones, grouped by purpose, and "More options". A command with few options
/// keeps them in one group.
void group_options(CLI::App& command);

/// Returns a formatter that prints --help, the common options with short texts, and --help-all, every option with its
/// whole text, in 80 columns.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace tesela::cli
