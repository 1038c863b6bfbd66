#include <tesela/runtime/memory.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
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
  struct sysinfo machine {};
  if (sysinfo(&machine) != 0) return std::numeric_limits<double>::infinity();
  double bytes = (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) * machine.mem_unit;
  for (const char* const limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double allowed = 0;
    if (std::ifstream(limit) >> allowed && allowed > 0) bytes = std::min(bytes, allowed);
  }
  return bytes;
}

}  // namespace tesela
