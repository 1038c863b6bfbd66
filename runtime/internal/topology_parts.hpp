#pragma once

#include <tesela/runtime/topology.hpp>

#include <string>
#include <vector>

namespace tesela::detail {

/// Adds the CUDA devices and versions; nothing in a build without CUDA.
void describe_gpus(Machine& machine);

/// Which CUDA devices this process sees, in order: their UUIDs, a space before each.
std::string visible_gpus();

/// Cores that this thread's binding leaves StarPU, which counts a core for as many hardware threads as one has; 0 where
/// hwloc knows nothing.
int usable_cores();

/// The hardware threads of each core that this process may use, whatever its binding is now.
std::vector<std::vector<int>> cores_of_host();

}  // namespace tesela::detail
