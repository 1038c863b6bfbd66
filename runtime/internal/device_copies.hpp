#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// GPU memory shared between processes of one host by CUDA's inter-process handles. Internal to the runtime.

namespace tesela::detail {

/// Layout of a tile in memory: `columns` runs of `bytes`, `stride` bytes apart.
struct Runs {
  std::byte* begin = nullptr;
  std::size_t bytes = 0, columns = 0, stride = 0;
  std::size_t size() const { return bytes * columns; }
};

/// Address in GPU memory that another process can open.
struct DevicePlace {
  std::array<std::byte, 64> allocation{};  // cudaIpcMemHandle_t
  std::uint64_t offset = 0;
};

class DeviceCopies {
 public:
  DeviceCopies() = default;
  ~DeviceCopies() { close(); }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  /// Allocates a sample on each of this process's GPUs, after StarPU has started. Returns their description, which
  /// other ranks pass to reaches(); empty without a GPU or if a GPU has less than 8 GiB, because tiles in transit
  /// occupy GPU memory and StarPU cannot evict them.
  std::string open();
  void close() noexcept;
  /// Returns whether each GPU of this process can read the memory of all GPUs in the other process's description.
  bool reaches(const std::string& said);
  /// Returns StarPU's memory node for sending and receiving this tile. Neighbours in a row of tiles, whose numbers
  /// differ by the number of tile rows, use different nodes.
  unsigned node(std::int64_t tile) const {
    return nodes_[(static_cast<std::uint64_t>(tile) * 0x9e3779b97f4a7c15u >> 32) % nodes_.size()];
  }

  /// Returns false if other processes cannot read this memory.
  static bool describe(const std::byte* memory, unsigned node, DevicePlace& place);
  /// Copies another process's memory to the GPU of this node. Returns false on failure.
  bool read(const Runs& to, unsigned node, const DevicePlace& from, std::size_t stride);

 private:
  /// Open allocations of other processes. Memory that its owner freed stays allocated until it is closed here, so old
  /// ones are closed.
  struct Open {
    std::byte* begin = nullptr;
    std::uint64_t used = 0;
    int readers = 0;
  };
  using Key = std::pair<int, std::array<std::byte, 64>>;  // this process's device, and the allocation
  std::byte* acquire(const Key&);
  /// Closes allocations without readers, the oldest first, until at most `most` are open.
  void close_idle(std::size_t most);
  void release(const Key&);

  bool reaches(const DevicePlace&, unsigned node);

  std::vector<unsigned> nodes_;
  std::vector<void*> samples_;  // one for each node
  std::mutex mutex_;
  std::map<Key, Open> open_;
  std::uint64_t uses_ = 0;
};

}  // namespace tesela::detail
