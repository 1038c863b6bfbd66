#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/internal/starpu.hpp>

// Several processes that run one program together: internal to the runtime.

namespace tesela::detail {

/// Joins the other processes of the program, if mpirun or srun started several or TESELA_MPI=1 is set; TESELA_MPI=0
/// makes it a single process. Throws EnvironmentError on failure.
void connect_ranks(RuntimeState&);
/// Returns messages to absent ranks if STARPU_MPI_FAKE_RANK and STARPU_MPI_FAKE_SIZE are set, otherwise null. Tasks are
/// then inserted but do nothing.
Messages* null_messages();
/// Returns messages that copy tiles between ranks of this host from memory to memory (unless TESELA_LOCAL_COPIES=0),
/// and use the given messages otherwise.
Messages* with_local_copies(Messages&);
/// Arranges the ranks in a grid. Throws ArgumentError if the grid's size differs from their number.
void set_rank_grid(RuntimeState&, const std::optional<std::array<int, 2>>& grid);
/// Restricts this rank to its share of its host's cores and GPUs; gpus_wanted: GPUs per rank, if set.
void share_host(const RuntimeState&, ScopedEnvironment&, std::optional<int> gpus_wanted);
/// Makes the numbers that sizes follow from equal on all ranks, after StarPU has started.
void reduce_worker_counts(RuntimeState&);

/// A rank's message to the others when it waits for its graph, and when it begins.
struct RankReport {
  std::uint64_t tasks = 0, hash = 0;  ///< of the tasks inserted so far
  index_t status_number = -1;         ///< the first status that is not 0
  index_t info = 0;
  std::string failure = {};  ///< why tasks were dropped; "cancelled" after a cancellation
};
/// Returns all ranks' reports, in order. Throws EnvironmentError if another rank has ended instead.
std::vector<RankReport> exchange_reports(const RuntimeState&, const RankReport& mine);

/// Returns the statistics of all ranks, in order; `tasks`: tasks that this rank has run.
std::vector<RankUse> exchange_uses(const RuntimeState&, index_t tasks);

/// Returns the exit code by which this rank ends all processes for an error of this kind.
int exit_code_of(ErrorKind) noexcept;

/// Ends a rank after an exception: returns if all ranks end, otherwise aborts all of them.
void shut_down_ranks(const RuntimeState&) noexcept;

}  // namespace tesela::detail
