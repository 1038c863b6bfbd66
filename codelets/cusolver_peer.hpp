#pragma once

#include "runtime/errors.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <string>

// What peers that call cuSOLVER outside any graph share; for builds with CUDA only.
namespace tesela::cusolver {

/// Throws EnvironmentError unless a CUDA or cuSOLVER call succeeded.
inline void check(int status, const char* call) {
  if (status != 0) throw EnvironmentError(std::string(call) + " failed with status " + std::to_string(status));
}

/// Device memory that lives as long as this.
struct DeviceArray {
  explicit DeviceArray(std::size_t bytes) {
    if (cudaMalloc(&data, std::max<std::size_t>(bytes, 1)) == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw EnvironmentError("cuSOLVER: device 0 has no " + std::to_string(bytes >> 20) + " MiB left");
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void* data = nullptr;
};

}  // namespace tesela::cusolver
