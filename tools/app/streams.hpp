#pragma once

#include <CLI/CLI.hpp>

#include <string>

// Standard streams as inputs and outputs of a command.

namespace tesela::cli {

/// Turns the word "-" into the name of a standard stream.
CLI::Validator dash_is(const std::string& stream);

/// Returns the command's words: "toeplitz eig".
std::string command_name(const CLI::App& app);

/// Throws ArgumentError if two of the command's inputs are standard input, which can be read only once.
void require_inputs(const CLI::App& app);

/// Returns whether an output other than the report is written to standard output, where nothing else may then be
/// printed.
bool writes_to_standard_output(const CLI::App& app);

}  // namespace tesela::cli
