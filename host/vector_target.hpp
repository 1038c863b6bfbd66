#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// Returns the vector unit that kernels of cores use: avx512, avx2, sse4, neon or scalar. The default is the machine's
/// best; TESELA_ISA selects another.
/// Throws   EnvironmentError if TESELA_ISA names a vector unit that this build or this machine does not have.
std::string_view vector_target();

/// Returns the vector units that kernels are compiled for and this machine has, best first.
std::vector<std::string> vector_targets();

/// Makes kernels use the vector unit `name`; "" selects TESELA_ISA or the default. For tests, while no task runs.
/// Throws   ArgumentError if `name` is not in vector_targets().
void use_vector_target(std::string_view name);

}  // namespace tesela
