#pragma once

#include <string>

namespace tesela {

/// The number that a launcher (mpirun, srun) gave this process among those of its program, whether or not a Runtime has
/// joined them yet; 0 for a process of its own, and where TESELA_MPI=0 says that it is one.
int launched_rank() noexcept;

/// The MPI by which several processes would share a graph, and whether it takes tiles from a GPU's memory: "Open MPI
/// v4.1.4, not GPU-aware"; empty where this was built without one. Loads it, and starts nothing.
std::string mpi_description();

}  // namespace tesela
