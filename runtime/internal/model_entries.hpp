#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Times in StarPU's performance models: internal to the runtime.

namespace tesela::detail {

/// A kernel's time at one shape in a model file of version 45; times in microseconds.
struct ModelEntry {
  bool on_gpu;
  std::uint32_t footprint;
  double bytes, flops, mean, deviation;
  index_t samples;
};
/// Returns the entries of a model's first variants; none if the text is no model of this version.
std::vector<ModelEntry> read_model(const std::string& model);

}  // namespace tesela::detail
