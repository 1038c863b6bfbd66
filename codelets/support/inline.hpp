#pragma once

#include <tesela/runtime/host_device.hpp>

/// A function, on a core or on both kinds of worker, that is compiled into what calls it: for the vector unit that the
/// caller is compiled for (see TESELA_MULTIVERSION), and with what it is given in registers.
#define TESELA_INLINE TESELA_BOTH inline __attribute__((always_inline))
