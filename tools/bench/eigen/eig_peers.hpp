#pragma once

#include "tools/problems/eigen/eig.hpp"

#include <cstdint>
#include <string>

// Peers of `tesela bench eig` that are no rows of the table of methods.
namespace tesela::bench {

/// Returns the reduction to a band alone, with its check.
template <class T>
Peer graph_band(cli::EigProblem<T>& problem, const std::string& name);

/// Returns ELPA's two-stage solver on one MPI rank per core. Its separate program (bench/elpa) makes the same uniform
/// matrix in double precision and times the solution alone. Throws EnvironmentError if it was not built.
Peer elpa_eig(index_t n, bool vectors, std::uint64_t seed);

}  // namespace tesela::bench
