#pragma once

#include <optional>
#include <string>

namespace tesela::cli {

/// Takes the places of standard input, output and error that were closed, so that no file that is opened later gets
/// their numbers, and with them what is printed. What goes to one of them then fails.
void take_closed_standard_descriptors();

/// Leaves standard output to the file that the command writes there (an AtomicFile of /dev/stdout): reports go to
/// standard error from here on, and standard_output_problem() does not check them. Throws EnvironmentError without a
/// free descriptor.
void print_to_standard_error();

/// Sends all that was printed on its way. Says what went wrong with standard output, now or before: a full disk, a pipe
/// that nobody reads.
std::optional<std::string> standard_output_problem();

/// For those of several ranks that would say and write the same as rank 0: standard output and files go nowhere, and
/// what tell() says waits three seconds, by when a launcher has ended this process where rank 0 failed likewise.
void be_quiet_beside_rank_0();

/// A line on standard error. That nobody may hear it is no reason to end: fmt::print would throw.
void tell(const std::string& line) noexcept;

}  // namespace tesela::cli
