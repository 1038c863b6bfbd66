#pragma once

#include <CLI/CLI.hpp>

namespace tesela::cli {

/// What an option's number must be, in one short line where it is not. A whole number may be written as 1e3.
/// Use: app.add_option("--n", n)->transform(positive()).
CLI::Validator positive();
CLI::Validator non_negative();
/// A seed has one bit more.
CLI::Validator seed_number();
CLI::Validator positive_up_to(double largest);  ///< above 0, and at most that
CLI::Validator between(double least, double largest);

/// Returns an option's number in the precision T. Throws ArgumentError, of this command and option, if it is not finite
/// in T, or nonzero and too small for T.
template <class T>
T in_precision(const char* command, const char* option, double value);

}  // namespace tesela::cli
