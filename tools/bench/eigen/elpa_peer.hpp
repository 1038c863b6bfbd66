#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/runtime/types.hpp>

#include <cstdint>

namespace tesela::bench {

/// Returns ELPA's two-stage solver on one MPI rank per core. Its separate program (bench/elpa) makes the same uniform
/// matrix in double precision and times the solution alone. Throws EnvironmentError if it was not built.
Peer elpa_eig(index_t n, bool vectors, std::uint64_t seed);

}  // namespace tesela::bench
