#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/simulation/simulation.hpp>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <sys/sysinfo.h>

namespace tesela {

HostMemory host_memory() {
  HostMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    double kibibytes = 0;
    if (key == "VmRSS:" && status >> kibibytes) memory.now = kibibytes * 1024;
    if (key == "VmHWM:" && status >> kibibytes) memory.most = kibibytes * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return memory;
}

double usable_host_bytes() {
  if (is_simulated()) return std::numeric_limits<double>::infinity();
  struct sysinfo machine {};
  if (sysinfo(&machine) != 0) return std::numeric_limits<double>::infinity();
  double bytes = (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) * machine.mem_unit;
  for (const char* const limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double allowed = 0;
    if (std::ifstream(limit) >> allowed && allowed > 0) bytes = std::min(bytes, allowed);
  }
  return bytes;
}

void require_memory_for_tiles(double tiles) {
  constexpr double few = 1e5, each = 7300;  // tiles that need no check; bytes per tile, measured with StarPU 1.4
  if (tiles <= few) return;
  double free = usable_host_bytes() - host_memory().now;
  std::ifstream memory("/proc/meminfo");
  double available = 0, swap = 0, kibibytes = 0;
  for (std::string key; memory >> key >> kibibytes;) {
    if (key == "MemAvailable:") available = kibibytes * 1024;
    if (key == "SwapFree:") swap = kibibytes * 1024;
    memory.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  if (available > 0) free = std::min(free, available + swap);
  if (tiles * each <= free) return;
  std::ostringstream said;
  said << std::setprecision(3) << "not enough host memory for " << tiles << " tiles: their records need "
       << tiles * each / (1 << 20) << " MiB, and " << std::max(free, 0.0) / (1 << 20)
       << " MiB are free: use larger tiles";
  throw OutOfMemory(said.str());
}

}  // namespace tesela
