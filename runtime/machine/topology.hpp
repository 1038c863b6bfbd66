#pragma once

#include <tesela/runtime/types.hpp>

#include <string>
#include <vector>

namespace tesela {

/// One level of data cache.
struct Cache {
  int level = 0;
  int count = 0;      ///< number of caches
  index_t bytes = 0;  ///< of each
};

/// One CUDA device.
struct Gpu {
  std::string name;  ///< for example NVIDIA H200
  int device = 0;
  std::string compute_capability;  ///< "9.0"
  int multiprocessors = 0;         ///< number of streaming multiprocessors
  index_t memory_bytes = 0;        ///< of the device
  std::string pci;                 ///< PCI address
  std::string pcie_link;           ///< "gen 5 x16"; empty if the driver does not report it
  int nvlinks = 0;                 ///< active links; 0 without links or if the driver does not report them
  std::vector<int> peers;          ///< devices whose memory it can address directly
  /// Bytes of shared memory: default maximum for a block, maximum on request, total of a multiprocessor.
  index_t shared_per_block = 0, shared_per_block_most = 0, shared_per_multiprocessor = 0;
  int registers_per_block = 0, registers_per_multiprocessor = 0;  ///< of 32 bits
  index_t l2_bytes = 0;                                           ///< size of the L2 cache
  int clock_khz = 0, memory_clock_khz = 0;                        ///< maxima; 0 if the driver does not report them
  int memory_bus_bits = 0;                                        ///< width of the memory bus
  bool ecc = false;                                               ///< on
};

/// Description of the machine.
struct Machine {
  std::string host;                                         ///< name of the machine
  std::string cpu_model;                                    ///< for example AMD EPYC 9654
  int sockets = 0, numa_nodes = 0, cores = 0, threads = 0;  ///< their numbers
  index_t memory_bytes = 0;                                 ///< of the host
  std::vector<Cache> caches;                                ///< data caches, from level 1
  std::vector<Gpu> gpus;                                    ///< CUDA devices
  std::string cuda_driver, cuda_runtime;                    ///< versions, empty without CUDA
};

/// Reads the machine from hwloc and, if there is a GPU, from CUDA and NVML. Needs no Runtime.
Machine describe_machine();

/// Returns the number of CUDA devices that this process sees; 0 in a build without CUDA or without a driver.
int count_cuda_devices() noexcept;

/// Returns the number of cores whose threads drive the GPUs of the present Runtime and never sleep; 0 without a
/// Runtime.
int polling_cores();

}  // namespace tesela
