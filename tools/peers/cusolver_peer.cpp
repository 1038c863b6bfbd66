#include "tools/peers/cusolver_peer.hpp"

#include <tesela/runtime/config.hpp>

#if TESELA_HAVE_CUDA
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/topology.hpp>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cusolverDn.h>

namespace tesela::cusolver {

using namespace bench;

Session::Session() {
  if (count_cuda_devices() == 0)
    throw EnvironmentError(
        "cuSOLVER needs a CUDA device, and none is visible: run where there is an NVIDIA driver, and check "
        "CUDA_VISIBLE_DEVICES");
  select_first_device();
  check_device(cusolverDnCreate(&solver), "cusolverDnCreate");
  check_device(cusolverDnCreateParams(&params), "cusolverDnCreateParams");
  check_device(cublasCreate(&blas), "cublasCreate");
}

Session::~Session() {
  if (blas != nullptr) cublasDestroy(blas);
  if (params != nullptr) cusolverDnDestroyParams(params);
  if (solver != nullptr) cusolverDnDestroy(solver);
}

void Workspace::reserve(std::size_t bytes_on_device, std::size_t bytes_on_host) {
  host.resize(std::max(host.size(), bytes_on_host));
  if (device && bytes >= bytes_on_device) return;
  device.reset();
  device = std::make_unique<DeviceMemory>(bytes_on_device);
  bytes = bytes_on_device;
}

int read_info(const DeviceMemory& info) {
  int outcome = 0;
  copy_memory(&outcome, info.as<void>(), sizeof outcome);
  if (outcome < 0) throw EnvironmentError(fmt::format("cuSOLVER: info {}", outcome));
  return outcome;
}

void require_success(const DeviceMemory& info, const char* routine) {
  if (const int outcome = read_info(info); outcome != 0)
    throw EnvironmentError(fmt::format("cuSOLVER {}: info {}", routine, outcome));
}

template <class T>
void fill_toeplitz(index_t n, const T* t, T* a) {
  std::vector<T> mirrored(static_cast<std::size_t>(2 * n));  // t(n-1) … t(1) t(0) t(1) … t(n-1)
  for (index_t k = 0; k < 2 * n - 1; ++k) mirrored[static_cast<std::size_t>(k)] = t[std::abs(k - (n - 1))];
  const DeviceMemory on_device(mirrored.size() * sizeof(T));
  copy_memory(on_device.as<T>(), mirrored.data(), mirrored.size() * sizeof(T));
  for (index_t j = 0; j < n; ++j)
    check_device(cudaMemcpyAsync(a + j * n, on_device.as<T>() + (n - 1 - j), bytes_of<T>(n), cudaMemcpyDeviceToDevice),
                 "cudaMemcpyAsync");
  check_device(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TESELA_FUNCTIONS_FOR_NUMBERS(fill_toeplitz)

}  // namespace tesela::cusolver

#endif
