#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/runtime/types.hpp>

#include <cstdint>

namespace tesela::bench {

/// ELPA's two-stage solver on an MPI rank a core, in a program of its own (bench/elpa) that makes the same uniform
/// matrix in double precision, and times the solution alone. Throws EnvironmentError where it was not built.
Peer elpa_eig(index_t n, bool vectors, std::uint64_t seed);

}  // namespace tesela::bench
