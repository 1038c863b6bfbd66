#pragma once

namespace tesela {

/// Bytes of the host's memory that this process has now, and the most that it had; 0 where Linux does not tell.
struct HostMemory {
  double now = 0, most = 0;
};
HostMemory host_memory();

/// Bytes that the processes of this machine may have together: memory and swap, or what the control group allows where
/// that is less.
double usable_host_bytes();

/// Throws EnvironmentError where the books that StarPU and the runtime keep of so many tiles need more memory than
/// there is, whatever the tiles hold. Few tiles are not looked at.
void require_memory_for_tiles(double tiles);

}  // namespace tesela
