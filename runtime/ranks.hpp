#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/runtime.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The least number of workers that a rank has, since sizes follow from it; a process of its own: workers().size().
index_t least_workers(const Runtime& runtime);

/// What each rank says, in order; each number becomes the sum of all ranks', the same on all of them. Every rank calls
/// them alike, and waits for the others. A process of its own has its own words and numbers alone.
std::vector<std::string> gather_over_ranks(const Runtime& runtime, std::string_view mine);
void sum_over_ranks(const Runtime& runtime, std::span<double> numbers);

/// The number that a launcher (mpirun, srun) gave this process among those of its program, whether or not a Runtime has
/// joined them yet; 0 for a process of its own, and where TESELA_MPI=0 says that it is one.
int launched_rank() noexcept;
/// Whether there are others of it.
bool launched_with_others() noexcept;

/// Sets the exit code by which a rank that fails alone ends all processes, for each kind of its error. Unless set,
/// every kind gives 1.
void set_exit_codes(int (*code_of)(ErrorKind)) noexcept;

/// Ends all processes of a launched program with this code, because of what this one alone may have met and has told.
/// prepare_to_end_ranks() comes before a rank waits whether another one does so: launchers but Open MPI's mpirun end
/// nobody because one process ended, so that all have to have joined MPI for one of them to end the others.
void prepare_to_end_ranks() noexcept;
[[noreturn]] void end_ranks(int code) noexcept;

/// The MPI by which several processes would share a graph, and whether it takes tiles from a GPU's memory: "Open MPI
/// v4.1.4, not GPU-aware"; empty where this was built without one. Loads it, and starts nothing.
std::string mpi_description();

}  // namespace tesela
