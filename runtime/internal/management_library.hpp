#pragma once

#include <string>

namespace tesela::detail {

/// Functions of the driver's management library (NVML) that report links and energy; a function that the installed
/// library lacks behaves as if it failed. NVML comes with the driver, not with the toolkit, so it is loaded at run
/// time, by the names and types of its documented interface.
class ManagementLibrary {
 public:
  ManagementLibrary();
  ~ManagementLibrary();
  ManagementLibrary(const ManagementLibrary&) = delete;
  ManagementLibrary& operator=(const ManagementLibrary&) = delete;

  /// Returns the device with this PCI address; null if there is none.
  void* device(const std::string& pci) const;

  // 0 is success.
  int (*pcie_generation)(void*, unsigned*) = [](void*, unsigned*) { return 1; };
  int (*pcie_width)(void*, unsigned*) = [](void*, unsigned*) { return 1; };
  int (*nvlink_state)(void*, unsigned, int*) = [](void*, unsigned, int*) { return 1; };
  int (*millijoules)(void*, unsigned long long*) = [](void*, unsigned long long*) { return 1; };  ///< since driver load

 private:
  void* library_ = nullptr;
  int (*by_pci_)(const char*, void**) = nullptr;
};

/// Returns the PCI address of a CUDA device; empty if CUDA does not report it.
std::string pci_address(int device);

}  // namespace tesela::detail
