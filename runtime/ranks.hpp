#pragma once

namespace tesela {

/// The number that a launcher (mpirun, srun) gave this process among those of its program, whether or not a Runtime has
/// joined them yet; 0 for a process of its own, and where TESELA_MPI=0 says that it is one.
int launched_rank() noexcept;

}  // namespace tesela
