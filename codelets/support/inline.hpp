#pragma once

#include <tesela/runtime/host_device.hpp>

/// A function, on a core or on both kinds of worker, that is compiled into its caller: for the caller's vector unit
/// (see per_target.hpp), and with its arguments in registers. It cannot call functions of one vector unit.
#define TESELA_INLINE TESELA_BOTH inline __attribute__((always_inline))
