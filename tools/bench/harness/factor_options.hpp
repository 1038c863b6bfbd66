#pragma once

#include "tools/bench/harness/report.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Options of benchmarks that compare a graph, LAPACK and cuSOLVER on data in host memory or on the devices.
struct FactorOptions : Options {
  std::string data = "host";
  std::vector<std::string> peers;
  /// Data on the devices is left to them: a core would only fetch it.
  bool devices_alone = true;

  bool on_device() const { return data == "device"; }
  bool has(const std::string& peer) const;
  /// Adds --peers and --data. The first name is the graph; all names of cuSOLVER have one prefix.
  void add_peers(CLI::App& app, const std::vector<std::string>& names = {"tesela", "lapack", "cusolver"});
  /// Chooses the peers, and refuses what this machine does not have before anything is allocated.
  void settle(const std::string& benchmark);

 private:
  std::string own_;
};

}  // namespace tesela::bench
