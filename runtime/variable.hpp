#pragma once

#include <cstdint>

namespace tesela {

/// Returns the whole number that an environment variable holds; `otherwise` if it is unset or empty.
///
/// Throws  EnvironmentError, with name and value, for a text that is not a whole number of at least `least`.
std::int64_t variable_or(const char* name, std::int64_t otherwise, std::int64_t least = 0);

}  // namespace tesela
