#pragma once

#include <string>

namespace tesela::detail {

/// The few functions of the driver's management library (NVML) that tell about links and energy; those that this one
/// does not have answer as if they failed. It comes with the driver, not with the toolkit, so it is looked up at run
/// time, by the names and types of its documented interface.
class ManagementLibrary {
 public:
  ManagementLibrary();
  ~ManagementLibrary();
  ManagementLibrary(const ManagementLibrary&) = delete;
  ManagementLibrary& operator=(const ManagementLibrary&) = delete;

  /// The device with this PCI address; null where there is none.
  void* device(const std::string& pci) const;

  // 0 is success.
  int (*pcie_generation)(void*, unsigned*) = [](void*, unsigned*) { return 1; };
  int (*pcie_width)(void*, unsigned*) = [](void*, unsigned*) { return 1; };
  int (*nvlink_state)(void*, unsigned, int*) = [](void*, unsigned, int*) { return 1; };
  int (*millijoules)(void*, unsigned long long*) = [](void*, unsigned long long*) { return 1; };  ///< since it started

 private:
  void* library_ = nullptr;
  int (*by_pci_)(const char*, void**) = nullptr;
};

/// Of a CUDA device; empty where CUDA does not tell.
std::string pci_address(int device);

}  // namespace tesela::detail
