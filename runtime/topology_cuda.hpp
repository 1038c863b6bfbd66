#pragma once

#include "runtime/topology.hpp"

namespace tesela::detail {

/// Adds the CUDA devices and versions; nothing in a build without CUDA.
void describe_gpus(Machine& machine);
/// Whether there are several CUDA devices, all of one kind.
bool several_like_gpus() noexcept;

}  // namespace tesela::detail
