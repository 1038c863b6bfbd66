#pragma once

#include "tools/app/arguments.hpp"

namespace tesela::cli {

/// Checks of an option's number, with a short message. Integers may be written as 1e3.
Check positive();
Check non_negative();
/// Accepts 64 bits, one more than non_negative().
Check seed_number();
Check positive_up_to(double largest);  ///< above 0 and at most `largest`
Check between(double least, double largest);

/// Returns an option's number in precision T. Throws ArgumentError, with the command and option, if it is not finite in
/// T, or nonzero and too small for T.
template <class T>
T in_precision(const char* command, const char* option, double value);

}  // namespace tesela::cli
