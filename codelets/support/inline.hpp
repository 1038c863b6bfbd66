#pragma once

#include <tesela/runtime/host_device.hpp>

/// Marks a function, for cores or for cores and GPUs, that is inlined into its caller: compiled for the caller's vector
/// unit (see per_target.hpp), with arguments in registers. It cannot call functions of one vector unit.
#define TESELA_INLINE TESELA_BOTH inline __attribute__((always_inline))
