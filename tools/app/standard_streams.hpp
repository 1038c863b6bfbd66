#pragma once

#include "tools/app/arguments.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tesela::cli {

/// Opens closed standard input, output and error, so that no later file gets their numbers and receives printed text.
/// Printing to them then fails.
void open_closed_standard_streams();

/// Reserves standard output for the file that the command writes there (an AtomicFile of /dev/stdout): reports then go
/// to standard error, and standard_output_problem() does not check them. Throws EnvironmentError if no descriptor is
/// free.
void redirect_reports_to_stderr();

/// Flushes standard output. Returns the error of this or an earlier write, such as a full disk or a closed pipe.
std::optional<std::string> standard_output_problem();

/// Silences ranks that would print and write the same as rank 0: disables standard output and files, and makes
/// print_error() wait three seconds, by which time a launcher has ended this process if rank 0 failed too.
void silence_other_ranks();

/// Prints a line on standard error, and ignores failures, for which fmt::print would throw.
void print_error(const std::string& line) noexcept;

/// Turns the word "-" into the name of a standard stream.
Check dash_is(const std::string& stream);

/// Throws ArgumentError if two of the command's inputs are standard input, which can be read only once.
void require_inputs(const App& app);

/// Throws ArgumentError if a command that reads files has neither a file nor a size or kind of generated data, or if a
/// file is missing that belongs to a given one (Option::belongs_to_files).
void require_problem(const App& app);

/// Prints on standard error the size of the dense matrix that a coordinate file becomes, if it is large.
void announce_dense_input(const std::string& path);

/// Announces each given input file, except options whose matrix may stay sparse, unless --quiet.
void announce_dense_inputs(const App& app);

/// Returns whether an output other than the report is written to standard output, where nothing else may then be
/// printed.
bool writes_to_standard_output(const App& app);

enum class Colour : std::uint8_t { red = 31, green = 32, yellow = 33 };

/// Returns the text in a colour if the descriptor is a terminal and NO_COLOR is empty (no-color.org).
std::string coloured(const std::string& text, Colour colour, int descriptor);

}  // namespace tesela::cli
