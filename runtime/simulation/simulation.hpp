#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tesela {

/// Returns whether this process simulates its tasks: none runs, each lasts as long as on a recorded machine, and no
/// tile has values. Only the program tesela-simulated does, which `tesela predict` starts.
bool is_simulated() noexcept;

/// Returns whether the simulated GPUs are fast at products of 8-bit integers, which decides kernels and tiles.
bool simulates_int8() noexcept;

/// Returns the seconds of a clock that never goes back; in a simulation the simulated seconds.
double clock_seconds() noexcept;

/// Times of the simulated tasks since the last Runtime::reset_statistics().
struct SimulatedTimes {
  double seconds = 0;                  ///< of all tasks together
  double interpolated_seconds = 0;     ///< of tasks with a shape that the machine's folder lacks
  std::vector<std::string> kernels{};  ///< kernels of these tasks
};
/// Returns them; zeros in a process that simulates nothing.
SimulatedTimes simulated_times();

/// Returns address space for a matrix of a simulation. All its parts share a little memory, so that its size hardly
/// counts: written values are lost. Null if the system refuses.
void* simulated_memory(std::size_t bytes) noexcept;
/// Releases memory of simulated_memory().
void release_simulated_memory(void* memory) noexcept;

}  // namespace tesela
