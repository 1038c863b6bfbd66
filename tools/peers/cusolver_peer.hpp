#pragma once

#include "tools/peers/device.hpp"
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <memory>
#include <vector>

struct cublasContext;
struct cusolverDnContext;
struct cusolverDnParams;

// Common parts of the peers that call cuSOLVER on CUDA device 0, outside any graph. Constructors throw EnvironmentError
// without a CUDA device and OutOfDeviceMemory without enough memory. Other calls wait for the device and throw
// EnvironmentError if it fails. A build without CUDA has the declarations alone.
namespace tesela::cusolver {

using bench::DeviceMemory;

/// cuSOLVER and cuBLAS on device 0. A first member, so that it reports a missing device.
struct Session {
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  cusolverDnContext* solver = nullptr;
  cusolverDnParams* params = nullptr;  ///< of 64-bit calls
  cublasContext* blas = nullptr;
};

/// Workspace of a 64-bit call.
struct Workspace {
  /// Makes room for these bytes; keeps memory that is large enough.
  void reserve(std::size_t bytes_on_device, std::size_t bytes_on_host);
  std::unique_ptr<DeviceMemory> device;
  std::size_t bytes = 0;  ///< on the device
  std::vector<unsigned char> host;
};

template <class T>
std::size_t bytes_of(index_t numbers) {
  return static_cast<std::size_t>(numbers) * sizeof(T);
}

/// Returns LAPACK's info after all work of device 0; throws EnvironmentError if it is negative.
int read_info(const DeviceMemory& info);
/// Throws EnvironmentError unless info is 0 after all work of device 0.
void require_success(const DeviceMemory& info, const char* routine);

/// Sets a, n x n in device memory, to t(|i - j|), t (n) in host memory: every column is a part of one vector.
template <class T>
void fill_toeplitz(index_t n, const T* t, T* a);

}  // namespace tesela::cusolver
