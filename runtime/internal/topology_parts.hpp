#pragma once

#include <tesela/runtime/machine/topology.hpp>

#include <string>
#include <vector>

namespace tesela::detail {

/// Adds the CUDA devices and versions; does nothing in a build without CUDA.
void describe_gpus(Machine& machine);

/// Returns the UUIDs of the CUDA devices that this process sees, in order, each after a space.
std::string visible_gpus();

/// Returns the number of cores that this thread's binding leaves StarPU: the bound hardware threads divided by those of
/// one core, as StarPU counts them; 0 if hwloc fails.
int usable_cores();

/// Returns the hardware threads of each core that this process may use, regardless of its present binding.
std::vector<std::vector<int>> cores_of_host();

}  // namespace tesela::detail
