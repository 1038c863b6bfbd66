#include <tesela/runtime/config.hpp>
#include <tesela/runtime/internal/management_library.hpp>
#include <tesela/runtime/internal/topology_parts.hpp>
#include <tesela/runtime/simulation/simulation.hpp>

#if TESELA_HAVE_CUDA

#include <cuda_runtime_api.h>

namespace tesela {
namespace {

void describe_links(const detail::ManagementLibrary& management, Gpu& gpu) {
  void* const device = management.device(gpu.pci);
  if (device == nullptr) return;
  unsigned generation = 0, width = 0;
  if (management.pcie_generation(device, &generation) == 0 && management.pcie_width(device, &width) == 0 &&
      generation > 0)
    gpu.pcie_link = "gen " + std::to_string(generation) + " x" + std::to_string(width);
  constexpr unsigned most_links = 36;
  for (unsigned link = 0; link < most_links; ++link) {
    int active = 0;
    if (management.nvlink_state(device, link, &active) == 0 && active == 1) ++gpu.nvlinks;
  }
}

/// Uses cudaDeviceGetAttribute, which reports clocks that CUDA 13's cudaDeviceProp lacks; 0 if it fails.
void describe_limits(Gpu& gpu) {
  const auto of = [&](cudaDeviceAttr attribute) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, gpu.device) == cudaSuccess) return value;
    cudaGetLastError();
    return 0;
  };
  gpu.shared_per_block = of(cudaDevAttrMaxSharedMemoryPerBlock);
  gpu.shared_per_block_most = of(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  gpu.shared_per_multiprocessor = of(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  gpu.registers_per_block = of(cudaDevAttrMaxRegistersPerBlock);
  gpu.registers_per_multiprocessor = of(cudaDevAttrMaxRegistersPerMultiprocessor);
  gpu.l2_bytes = of(cudaDevAttrL2CacheSize);
  gpu.clock_khz = of(cudaDevAttrClockRate);
  gpu.memory_clock_khz = of(cudaDevAttrMemoryClockRate);
  gpu.memory_bus_bits = of(cudaDevAttrGlobalMemoryBusWidth);
  gpu.ecc = of(cudaDevAttrEccEnabled) == 1;
}

std::string version(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

}  // namespace

int count_cuda_devices() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // a missing driver is a valid result; the next caller must not find this error
  return 0;
}

void detail::describe_gpus(Machine& machine) {
  int driver = 0, runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) machine.cuda_runtime = version(runtime);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) machine.cuda_driver = version(driver);
  const int count = count_cuda_devices();
  if (count == 0) return;
  const detail::ManagementLibrary management;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    Gpu gpu;
    gpu.name = properties.name;
    gpu.device = device;
    gpu.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.memory_bytes = static_cast<index_t>(properties.totalGlobalMem);
    gpu.pci = detail::pci_address(device);
    for (int other = 0; other < count; ++other) {
      int can = 0;
      if (other != device && cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can == 1)
        gpu.peers.push_back(other);
    }
    describe_limits(gpu);
    describe_links(management, gpu);
    machine.gpus.push_back(std::move(gpu));
  }
}

std::string detail::visible_gpus() {
  std::string uuids;
  for (int device = 0; device < count_cuda_devices(); ++device) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    uuids += ' ';
    for (const char byte : properties.uuid.bytes)
      for (const int half : {byte >> 4 & 15, byte & 15}) uuids += "0123456789abcdef"[half];
  }
  return uuids;
}

}  // namespace tesela

#else

#include <cstdlib>

namespace tesela {
int count_cuda_devices() noexcept {
  const char* const simulated = is_simulated() ? std::getenv("STARPU_NCUDA") : nullptr;
  return simulated != nullptr ? std::atoi(simulated) : 0;
}
void detail::describe_gpus(Machine&) {}
std::string detail::visible_gpus() { return {}; }
}  // namespace tesela

#endif
