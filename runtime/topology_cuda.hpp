#pragma once

#include "runtime/topology.hpp"

namespace tesela::detail {

/// Adds the CUDA devices and versions; nothing in a build without CUDA.
void describe_gpus(Machine& machine);

}  // namespace tesela::detail
