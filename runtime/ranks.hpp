#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/runtime.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// Returns the number of workers of the rank with the fewest, which sizes follow from; for a single process
/// workers().size().
index_t least_workers(const Runtime& runtime);

/// Returns the number of parts for equal shares of work: the GPUs of a rank if it has any, since a core would end long
/// after them, else least_workers().
inline index_t equal_shares(const Runtime& runtime) {
  return runtime.gpus() > 0 ? runtime.gpus() : least_workers(runtime);
}

/// gather_over_ranks() returns the strings of all ranks in order. sum_over_ranks() replaces each number by its sum over
/// all ranks. Every rank must make the same call, and waits for the others. A single process gets its own string and
/// numbers.
std::vector<std::string> gather_over_ranks(const Runtime& runtime, std::string_view mine);
void sum_over_ranks(const Runtime& runtime, std::span<double> numbers);

/// Returns the number that a launcher (mpirun, srun) gave this process in its program, even if no Runtime has joined
/// the ranks yet; 0 for a single process and under TESELA_MPI=0.
int launched_rank() noexcept;
/// Returns whether the launcher started several processes.
bool launched_with_others() noexcept;

/// Sets the exit code by which a rank that fails alone ends all processes, for each kind of its error. Unless set,
/// every kind gives 1.
void set_exit_codes(int (*code_of)(ErrorKind)) noexcept;

/// end_ranks() ends all processes of a launched program with this code, after this rank has reported an error.
/// prepare_to_end_ranks() must run before a rank waits for another that may end all. Only Open MPI's mpirun ends all
/// processes when one ends; with other launchers all ranks must have joined MPI before one can end the others.
void prepare_to_end_ranks() noexcept;
[[noreturn]] void end_ranks(int code) noexcept;

/// Returns the MPI that several processes would use to share a graph, and whether it accepts tiles in GPU memory: "Open
/// MPI v4.1.4, not GPU-aware"; empty in a build without MPI. Loads the library but starts nothing.
std::string mpi_description();

}  // namespace tesela
