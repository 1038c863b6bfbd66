#pragma once

#include <cstddef>

namespace tesela {

/// Returns the bytes that StarPU may use on the smallest GPU of the process's Runtime, as STARPU_LIMIT_CUDA_MEM limits
/// them; 0 without a Runtime or a GPU. Unlike Runtime::device_bytes() it also serves plans, which have no Runtime.
std::size_t device_limit();

}  // namespace tesela
