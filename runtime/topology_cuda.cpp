#include <tesela/runtime/config.hpp>
#include <tesela/runtime/internal/topology_parts.hpp>

#if TESELA_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <dlfcn.h>

namespace tesela {
namespace {

/// The few functions of the driver's management library that tell about links. It comes with the driver, not with the
/// toolkit, so it is looked up at run time, by the names and types of its documented interface.
class ManagementLibrary {
 public:
  ManagementLibrary() {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library_ == nullptr) return;
    int (*init)() = nullptr;
    if (!load(init, "nvmlInit_v2") || init() != 0) return;
    ready_ = load(by_pci_, "nvmlDeviceGetHandleByPciBusId_v2") &&
             load(pcie_generation_, "nvmlDeviceGetMaxPcieLinkGeneration") &&
             load(pcie_width_, "nvmlDeviceGetMaxPcieLinkWidth") && load(nvlink_state_, "nvmlDeviceGetNvLinkState");
  }
  ~ManagementLibrary() {
    if (library_ != nullptr) dlclose(library_);
  }
  ManagementLibrary(const ManagementLibrary&) = delete;
  ManagementLibrary& operator=(const ManagementLibrary&) = delete;

  void describe(Gpu& gpu) const {
    void* device = nullptr;
    if (!ready_ || by_pci_(gpu.pci.c_str(), &device) != 0) return;
    unsigned generation = 0, width = 0;
    if (pcie_generation_(device, &generation) == 0 && pcie_width_(device, &width) == 0 && generation > 0)
      gpu.pcie_link = "gen " + std::to_string(generation) + " x" + std::to_string(width);
    constexpr unsigned most_links = 36;
    for (unsigned link = 0; link < most_links; ++link) {
      int active = 0;
      if (nvlink_state_(device, link, &active) == 0 && active == 1) ++gpu.nvlinks;
    }
  }

 private:
  template <class F>
  bool load(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library_, name));
    return function != nullptr;
  }
  void* library_ = nullptr;
  bool ready_ = false;
  int (*by_pci_)(const char*, void**) = nullptr;
  int (*pcie_generation_)(void*, unsigned*) = nullptr;
  int (*pcie_width_)(void*, unsigned*) = nullptr;
  int (*nvlink_state_)(void*, unsigned, int*) = nullptr;
};

/// What cudaDeviceGetAttribute tells, which has clocks also where cudaDeviceProp (CUDA 13) has none; 0 where it fails.
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
  cudaGetLastError();  // "no driver" is an answer here, not an error for the next caller to find
  return 0;
}

void detail::describe_gpus(Machine& machine) {
  int driver = 0, runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) machine.cuda_runtime = version(runtime);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) machine.cuda_driver = version(driver);
  const int count = count_cuda_devices();
  if (count == 0) return;
  const ManagementLibrary management;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    Gpu gpu;
    gpu.name = properties.name;
    gpu.device = device;
    gpu.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.memory_bytes = static_cast<index_t>(properties.totalGlobalMem);
    char pci[32] = "";
    if (cudaDeviceGetPCIBusId(pci, sizeof pci, device) == cudaSuccess) gpu.pci = pci;
    for (int other = 0; other < count; ++other) {
      int can = 0;
      if (other != device && cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can == 1)
        gpu.peers.push_back(other);
    }
    describe_limits(gpu);
    management.describe(gpu);
    machine.gpus.push_back(std::move(gpu));
  }
}

}  // namespace tesela

#else

namespace tesela {
int count_cuda_devices() noexcept { return 0; }
void detail::describe_gpus(Machine&) {}
}  // namespace tesela

#endif
