#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// Returns the vector unit that kernels of cores use: avx512, avx2, sse4, neon or scalar. It is the best one of this
/// machine, or of those up to the one that TESELA_ISA names.
/// Throws   EnvironmentError if TESELA_ISA names a vector unit that this build or this machine does not have.
std::string_view vector_target();

/// Returns the vector units that kernels are compiled for and this machine has, the best one first.
std::vector<std::string> vector_targets();

/// Makes kernels use the vector unit `name`, or with "" the one that TESELA_ISA or the machine selects. For tests: no
/// task may run meanwhile.
/// Throws   ArgumentError if `name` is none of vector_targets().
void use_vector_target(std::string_view name);

}  // namespace tesela
