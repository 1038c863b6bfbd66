#pragma once

#include <tesela/runtime/internal/graph_record.hpp>
#include <tesela/runtime/internal/starpu.hpp>

// Simulated tasks: internal to the runtime.

#ifndef TESELA_SIMULATED
#define TESELA_SIMULATED 0  // 1 in the runtime of tesela-simulated
#endif

namespace tesela::detail {

/// Whether this is the runtime of tesela-simulated, whose StarPU runs over SimGrid.
inline constexpr bool simulates = TESELA_SIMULATED != 0;

// In other runtimes nobody calls these functions.

/// Makes the machine's times the model's times.
void simulate(starpu_perfmodel&);
/// Returns the kinds of worker that have times of the kernel. Throws EnvironmentError if none of `where` has.
std::uint32_t timed_workers(const CodeletImpl&, std::uint32_t where);
/// Throws EnvironmentError: a machine has no times of a kernel on these workers.
[[noreturn]] void refuse_untimed(const char* kernel, bool cores, bool gpus);
/// Looks up the times of a task with this footprint.
void look_up_times(const CodeletImpl&, std::uint32_t footprint, double bytes, double flops);
/// Returns the times that were looked up.
ExpectedSeconds simulated_seconds(const CodeletImpl&, std::uint32_t footprint);
/// Counts a task that has ended on this worker.
void count_simulated(const starpu_task&, int worker);
void reset_simulated_times();
/// Waits for all submitted tasks; StarPU's threads are parts of this one.
void wait_for_simulated(const GraphTasks&);
/// Throws EnvironmentError: the program asked for the values of this tile.
[[noreturn]] void refuse_values(const Data&);

}  // namespace tesela::detail
