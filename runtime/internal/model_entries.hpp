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

/// Set by recording_environment().
inline constexpr const char* separate_flops_variable = "TESELA_SEPARATE_FLOPS";

/// Returns the key of a model that has a time for each number of flops (to five digits) of tasks with one footprint:
/// the tasks of a factorization's later steps have the same tiles and fewer flops. Without flops it is the footprint.
std::uint32_t footprint_with_flops(std::uint32_t footprint, double flops);
/// Whether this process's models have such keys: in a simulation, and if recording_environment() was set. Elsewhere a
/// scheduler would wait for samples of too many keys.
bool models_separate_flops();

}  // namespace tesela::detail
