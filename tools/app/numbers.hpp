#pragma once

#include "tools/app/arguments.hpp"

#include <cstdint>
#include <string>

namespace tesela::cli {

/// Checks of an option's number, with a short message. Integers may be written as 1e3. Use: app.add_option("--n",
/// n)->transform(positive()).
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

/// Returns "1 row", "2 rows".
std::string counted(std::int64_t count, const std::string& what);

}  // namespace tesela::cli
