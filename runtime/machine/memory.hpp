#pragma once

namespace tesela {

/// Bytes of host memory that this process uses `now`, and the `most` so far; 0 if Linux does not report them.
struct HostMemory {
  double now = 0, most = 0;
};
HostMemory host_memory();

/// Returns the bytes that all processes of this machine may use together: memory and swap, or the control group's limit
/// if it is lower.
double usable_host_bytes();

/// Throws EnvironmentError if the records that StarPU and the runtime keep of this number of tiles, whatever the tiles
/// hold, exceed the free memory. Does not check small numbers of tiles.
void require_memory_for_tiles(double tiles);

}  // namespace tesela
