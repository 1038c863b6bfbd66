#pragma once

// What performance models say: not installed, the runtime's own.

#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <limits>

namespace tesela::detail {

struct ExpectedSeconds {
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double cpu = unknown, gpu = unknown;
  double best() const { return std::min(cpu, gpu); }
};

/// What the kernel's history says of one task of this footprint.
ExpectedSeconds expected_seconds(CodeletImpl& codelet, std::uint32_t footprint, const RuntimeState& state);

}  // namespace tesela::detail
