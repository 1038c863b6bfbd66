#include <tesela/runtime/config.hpp>
#include <tesela/runtime/internal/energy_counters.hpp>
#include <tesela/runtime/internal/management_library.hpp>

#include <dlfcn.h>
#include <memory>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tesela::detail {

ManagementLibrary::ManagementLibrary() {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library_ == nullptr) return;
  const auto load = [this]<class F>(F& function, const char* name) {
    if (void* const found = dlsym(library_, name); found != nullptr) function = reinterpret_cast<F>(found);
  };
  int (*init)() = nullptr;
  load(init, "nvmlInit_v2");
  if (init == nullptr || init() != 0) return;
  load(by_pci_, "nvmlDeviceGetHandleByPciBusId_v2");
  load(pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  load(pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  load(nvlink_state, "nvmlDeviceGetNvLinkState");
  load(millijoules, "nvmlDeviceGetTotalEnergyConsumption");
}

ManagementLibrary::~ManagementLibrary() {
  if (library_ != nullptr) dlclose(library_);
}

void* ManagementLibrary::device(const std::string& pci) const {
  void* device = nullptr;
  return by_pci_ != nullptr && by_pci_(pci.c_str(), &device) == 0 ? device : nullptr;
}

std::string pci_address(int device) {
  char pci[32] = "";
#if TESELA_HAVE_CUDA
  if (cudaDeviceGetPCIBusId(pci, sizeof pci, device) != cudaSuccess) {
    cudaGetLastError();
    return "";
  }
#else
  static_cast<void>(device);
#endif
  return pci;
}

std::vector<EnergyCounter> gpu_counters(const std::vector<int>& devices) {
  if (devices.empty()) return {};
  const auto management = std::make_shared<ManagementLibrary>();
  std::vector<EnergyCounter> counters;
  for (const int number : devices) {
    void* const device = management->device(pci_address(number));
    const auto read = [management, device]() -> std::optional<double> {
      unsigned long long so_far = 0;
      if (management->millijoules(device, &so_far) != 0) return std::nullopt;
      return static_cast<double>(so_far) * 1e-3;
    };
    if (device == nullptr || !read()) return {};
    counters.emplace_back(read, 0);
  }
  return counters;
}

}  // namespace tesela::detail
