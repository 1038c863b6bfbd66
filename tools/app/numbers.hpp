#pragma once

#include <CLI/CLI.hpp>

namespace tesela::cli {

/// Checks of an option's number, with a short message. Integers may be written as 1e3. Use: app.add_option("--n",
/// n)->transform(positive()).
CLI::Validator positive();
CLI::Validator non_negative();
/// Accepts 64 bits, one more than non_negative().
CLI::Validator seed_number();
CLI::Validator positive_up_to(double largest);  ///< above 0 and at most `largest`
CLI::Validator between(double least, double largest);

/// Returns an option's number in precision T. Throws ArgumentError, with the command and option, if it is not finite in
/// T, or nonzero and too small for T.
template <class T>
T in_precision(const char* command, const char* option, double value);

}  // namespace tesela::cli
