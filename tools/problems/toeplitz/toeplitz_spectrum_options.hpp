#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace tesela::cli {

/// Settings of the spectrum search in `tesela toeplitz eig` and its benchmarks.
struct SpectrumSettings {
  std::string preset = "fast", method = "auto";
  index_t per_interval = -1, dk = -1, max_attempts = -1, window = 0, group = 0;
  double krylov_factor = -1, tolerance = 0;
  std::string shift, start, solver, counter;

  void add_to(CLI::App& app);
  /// Returns the preset with the options applied.
  SpectrumOptions options(std::uint64_t seed) const;
};

}  // namespace tesela::cli
