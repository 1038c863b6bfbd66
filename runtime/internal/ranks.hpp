#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/internal/starpu.hpp>

// Several processes that run one program together: not installed, the runtime's own.

namespace tesela::detail {

/// Finds out whether this process is one of several (mpirun or srun started it, or TESELA_MPI=1 says so; TESELA_MPI=0:
/// it is not), and joins them. Throws EnvironmentError where it cannot.
void join_ranks(RuntimeState&);
/// Where STARPU_MPI_FAKE_RANK and STARPU_MPI_FAKE_SIZE say so, messages that nobody sends; else null. Tasks are
/// inserted then and do nothing.
Messages* pretended_messages();
/// The same messages, but tiles of ranks of this host, which go from memory to memory (unless TESELA_LOCAL_COPIES=0).
Messages* with_local_copies(Messages&);
/// How the ranks stand. Throws ArgumentError for a grid of another number of them.
void arrange_ranks(RuntimeState&, const std::optional<std::array<int, 2>>& grid);
/// Leaves this rank its share of its host's cores and GPUs: of these so many, if somebody says how many a rank takes.
void share_host(const RuntimeState&, ScopedEnvironment&, std::optional<int> gpus_wanted);
/// Once StarPU stands: what sizes follow from is the same on all ranks.
void agree_on_workers(RuntimeState&);

/// What ranks tell each other when one of them waits for its graph, and when it begins.
struct RankReport {
  std::uint64_t tasks = 0, hash = 0;  ///< inserted so far
  index_t status_number = -1;         ///< of the first status that is not 0
  index_t info = 0;
  std::string failure = {};  ///< why tasks were dropped; "cancelled" in place of a reason
};
/// All ranks' reports, in order. Throws EnvironmentError where another rank is at its end instead.
std::vector<RankReport> exchange_reports(const RuntimeState&, const RankReport& mine);

/// All ranks', in order: this one has run so many tasks.
std::vector<RankUse> exchange_uses(const RuntimeState&, index_t tasks);

/// Returns the exit code by which this rank ends all processes for an error of this kind.
int exit_code_of(ErrorKind) noexcept;

/// A rank that ends because of an exception: with all others, or else all end at once.
void leave_ranks(const RuntimeState&) noexcept;

}  // namespace tesela::detail
