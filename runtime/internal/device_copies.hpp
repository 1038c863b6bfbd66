#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// Memory of GPUs between processes of one host, by CUDA's inter-process handles. Not installed, the runtime's own.

namespace tesela::detail {

/// How a tile lies in memory: `columns` runs of `bytes`, `stride` bytes from one to the next.
struct Runs {
  std::byte* begin = nullptr;
  std::size_t bytes = 0, columns = 0, stride = 0;
  std::size_t size() const { return bytes * columns; }
};

/// Where another process finds what lies in memory of a GPU.
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

  /// Once StarPU stands: words about some memory of each of this process's GPUs, for reaches() of others to try. Empty
  /// where it has no GPU, or one with little memory: what comes and goes lies in it, and StarPU cannot move that away.
  std::string open();
  void close() noexcept;
  /// Whether each GPU of this process can read memory of all of those of the process that said so.
  bool reaches(const std::string& said);
  /// StarPU's memory node where the tile of this number comes and goes: neighbours of a row, whose numbers differ by
  /// the rows of tiles, go to different ones.
  unsigned node(std::int64_t tile) const {
    return nodes_[(static_cast<std::uint64_t>(tile) * 0x9e3779b97f4a7c15u >> 32) % nodes_.size()];
  }

  /// False: not for others to read.
  static bool describe(const std::byte* memory, unsigned node, DevicePlace& place);
  /// Reads another process's memory into that of the GPU that is this node. False: it cannot.
  bool read(const Runs& to, unsigned node, const DevicePlace& from, std::size_t stride);

 private:
  /// Allocations of others that are open here. The oldest are closed: what their owner frees meanwhile stays taken.
  struct Open {
    std::byte* begin = nullptr;
    std::uint64_t used = 0;
    int readers = 0;
  };
  using Key = std::pair<int, std::array<std::byte, 64>>;  // this process's device, and the allocation
  std::byte* acquire(const Key&);
  /// Closes those that nobody reads, the oldest first, until no more than `most` are open.
  void close_idle(std::size_t most);
  void release(const Key&);

  bool reaches(const DevicePlace&, unsigned node);

  std::vector<unsigned> nodes_;
  std::vector<void*> samples_;  // of each node
  std::mutex mutex_;
  std::map<Key, Open> open_;
  std::uint64_t uses_ = 0;
};

}  // namespace tesela::detail
