#pragma once

// Predictions of the performance models: internal to the runtime.

#include <tesela/runtime/internal/starpu.hpp>

#include <algorithm>
#include <limits>

namespace tesela::detail {

struct ExpectedSeconds {
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double cpu = unknown, gpu = unknown;
  double best() const { return std::min(cpu, gpu); }
};

/// Returns the expected times of a task with this footprint from the kernel's history.
ExpectedSeconds expected_seconds(CodeletImpl& codelet, std::uint32_t footprint, const RuntimeState& state);

}  // namespace tesela::detail
