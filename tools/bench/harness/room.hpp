#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/runtime/memory.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// Returns the timings of peers that do not run because a case needs more bytes than the host has; empty if it fits.
inline std::vector<Timing> without_room(const std::vector<std::string>& peers, double bytes) {
  std::vector<Timing> timings;
  if (bytes <= usable_host_bytes()) return timings;
  for (const std::string& peer : peers) timings.push_back({peer, {}, 0, "no room"});
  return timings;
}

}  // namespace tesela::bench
