#pragma once

#include "bench/harness/report.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Of benchmarks that compare tesela, lapack and cusolver on data in host memory or on the devices.
struct FactorOptions : Options {
  std::string data = "host";
  std::vector<std::string> peers;

  bool on_device() const { return data == "device"; }
  bool has(const std::string& peer) const;
  /// --peers and --data.
  void add_peers(CLI::App& app);
  /// Chooses the peers, and refuses what this machine does not have before anything is allocated. Data on the devices
  /// is left to them: a core would only fetch it.
  void settle(const std::string& benchmark);
};

}  // namespace tesela::bench
