#pragma once

#include "tools/bench/harness/report.hpp"
#include <tesela/runtime/machine/memory.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// Options of benchmarks that compare a graph, LAPACK and cuSOLVER on data in host memory or on the devices.
struct FactorOptions : Options {
  std::string data = "host";
  std::vector<std::string> peers;
  /// Whether only devices work on data that is on devices; a core would have to fetch it.
  bool devices_alone = true;

  bool on_device() const { return data == "device"; }
  bool has(const std::string& peer) const;
  /// Adds --peers and --data. The first name is the graph's peer; cuSOLVER's peers share a prefix.
  void add_peers(cli::App& app, const std::vector<std::string>& names = {"tesela", "lapack", "cusolver"});
  /// Chooses the peers, and throws for peers that this machine does not have before anything is allocated.
  void resolve(const std::string& benchmark);

 private:
  std::string own_;
};

/// Returns the timings of peers that do not run because a case needs more bytes than the host has; empty if it fits.
inline std::vector<Timing> without_room(const std::vector<std::string>& peers, double bytes) {
  std::vector<Timing> timings;
  if (bytes <= usable_host_bytes()) return timings;
  for (const std::string& peer : peers) timings.push_back({peer, {}, 0, "no room"});
  return timings;
}

}  // namespace tesela::bench
