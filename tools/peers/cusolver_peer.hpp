#pragma once

#include "tools/peers/handle.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/topology.hpp>
#include <tesela/runtime/types.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cusolverDn.h>
#include <library_types.h>
#include <string>
#include <type_traits>
#include <vector>

// Common code of peers that call cuSOLVER outside any graph; for builds with CUDA only.
namespace tesela::cusolver {

/// Throws EnvironmentError unless a CUDA or cuSOLVER call succeeded.
inline void check(int status, const char* call) {
  if (status != 0) throw EnvironmentError(std::string(call) + " failed with status " + std::to_string(status));
}

/// Device memory, freed with this object.
struct DeviceArray {
  explicit DeviceArray(std::size_t bytes) {
    if (cudaMalloc(&data, std::max<std::size_t>(bytes, 1)) == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw bench::OutOfDeviceMemory("cuSOLVER: device 0 has no " + std::to_string(bytes >> 20) + " MiB left");
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void* data = nullptr;
};

/// cuSOLVER on device 0, with the parameters of its 64-bit calls. Throws EnvironmentError without a device.
struct Solver {
  Solver() {
    if (count_cuda_devices() == 0)
      throw EnvironmentError(
          "cuSOLVER needs a CUDA device, and none is visible: run where there is an NVIDIA driver, and check "
          "CUDA_VISIBLE_DEVICES");
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cusolverDnCreate(handle.out()), "cusolverDnCreate");
    check(cusolverDnCreateParams(params.out()), "cusolverDnCreateParams");
  }
  bench::Handle<cusolverDnHandle_t, cusolverDnDestroy> handle;
  bench::Handle<cusolverDnParams_t, cusolverDnDestroyParams> params;
};

template <class T>
std::size_t bytes_of(index_t numbers) {
  return static_cast<std::size_t>(numbers) * sizeof(T);
}

/// Copies between host and device memory after all work of device 0. Waits.
inline void copy(void* to, const void* from, std::size_t bytes) {
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

/// cuSOLVER's 64-bit name of T.
template <class T>
inline constexpr cudaDataType type_of = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

/// Sets a, n x n in device memory, to t(|i - j|), t (n) in host memory: every column is a part of one vector. Waits.
template <class T>
void fill_toeplitz(index_t n, const T* t, T* a) {
  std::vector<T> mirrored(static_cast<std::size_t>(2 * n));  // t(n-1) … t(1) t(0) t(1) … t(n-1)
  for (index_t k = 0; k < 2 * n - 1; ++k) mirrored[static_cast<std::size_t>(k)] = t[std::abs(k - (n - 1))];
  const DeviceArray on_device(mirrored.size() * sizeof(T));
  check(cudaMemcpy(on_device.data, mirrored.data(), mirrored.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  for (index_t j = 0; j < n; ++j)
    check(cudaMemcpyAsync(a + j * n, static_cast<const T*>(on_device.data) + (n - 1 - j),
                          static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToDevice),
          "cudaMemcpyAsync");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace tesela::cusolver
