#pragma once

#include <cuda_runtime_api.h>

// For kernels whose thread blocks wait for each other. Internal to codelets/.

namespace tesela::kernels {

/// Returns the thread blocks of a kernel that the current device runs at once; 0 if it does not start them together.
template <class Kernel>
int resident_blocks(Kernel kernel, int threads, int bytes, bool together) {
  int device = 0, processors = 0, each = 0, able = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&able, cudaDevAttrCooperativeLaunch, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, static_cast<std::size_t>(bytes));
  return together && able == 0 ? 0 : processors * each;
}

}  // namespace tesela::kernels
