#pragma once

// Status tiles for Graph::status: not installed, the runtime's own.

#include <tesela/runtime/data.hpp>
#include <tesela/runtime/runtime.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace tesela::detail {

/// Status tiles that no graph has now, all 0. To register one, and to bring it to a GPU and home from memory that is
/// not page-locked, takes as long as a short kernel.
class StatusPool {
 public:
  std::unique_ptr<Data> take(Runtime& runtime);
  /// `at_home`: host memory holds what was written last, and no task is under way.
  void give_back(std::unique_ptr<Data> status, bool at_home, bool among_ranks) noexcept;
  /// While StarPU still stands.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Data>> spare_;
  std::vector<std::unique_ptr<HostBuffer>> memory_;
};

}  // namespace tesela::detail
