#pragma once

#include "tests/support/commands/command.hpp"
#include <tesela/tiles/io/arrays.hpp>

#include <complex>

namespace tesela::test {

/// Files with 2 x 2 channels and bpsk signals, one signal for each channel: signal k is exactly H s.
struct MimoTestFiles {
  TemporaryFolder folder;
  std::string h = folder / "h.npy", y = folder / "y.npy", s = folder / "s.npy";
  std::vector<std::complex<double>> channels, signals;
  std::vector<int> labels;
  explicit MimoTestFiles(int count = 5) {
    for (int k = 0; k < count; ++k) {
      const std::complex<double> a{1.0 + k, 0.5}, b{0.25, -1.0}, c{-0.5, k * 0.5}, d{2.0, 1.0};
      for (const std::complex<double>& x : {a, b, c, d}) channels.push_back(x);
      const int s0 = k % 2, s1 = k / 2 % 2;
      const std::complex<double> p{std::sqrt(0.5) * (1 - 2 * s0), std::sqrt(0.5) * (1 - 2 * s0)},
          q{std::sqrt(0.5) * (1 - 2 * s1), std::sqrt(0.5) * (1 - 2 * s1)};
      labels.push_back(s0), labels.push_back(s1);
      signals.push_back(a * p + b * q), signals.push_back(c * p + d * q);
    }
    write(count);
  }
  void write(index_t count) {
    write_array(h, {count, 2, 2}, channels.data());
    write_array(y, {count, 2}, signals.data());
    write_array(s, {count, 2}, labels.data());
  }
  Words words(const Words& more = {}) const { return Words{"--h", h, "--y", y, "--constellation", "bpsk"} + more; }
};

}  // namespace tesela::test
