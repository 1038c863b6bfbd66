#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tesela::cli {

/// Returns the command's words, as command_name(App) does.
std::string command_name(const CLI::App& app);

}  // namespace tesela::cli
