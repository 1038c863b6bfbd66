#pragma once

#include "tools/app/arguments.hpp"

#include <string>

// Standard streams as inputs and outputs of a command.

namespace tesela::cli {

/// Turns the word "-" into the name of a standard stream.
Check dash_is(const std::string& stream);

/// Throws ArgumentError if two of the command's inputs are standard input, which can be read only once.
void require_inputs(const App& app);

/// Throws ArgumentError if a command that reads files has neither a file nor a size or kind of generated data.
void require_problem(const App& app);

/// Prints on standard error the size of each large dense matrix that a given coordinate file becomes, unless --quiet.
void announce_dense_inputs(const App& app);

/// Returns whether an output other than the report is written to standard output, where nothing else may then be
/// printed.
bool writes_to_standard_output(const App& app);

}  // namespace tesela::cli
