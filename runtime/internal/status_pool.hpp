#pragma once

// Status tiles for Graph::status: internal to the runtime.

#include <tesela/runtime/data.hpp>
#include <tesela/runtime/runtime.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace tesela::detail {

/// Unused status tiles, all 0. Registering one, or copying it to a GPU and back through memory that is not page-locked,
/// takes as long as a short kernel.
class StatusPool {
 public:
  std::unique_ptr<Data> take(Runtime& runtime);
  /// `at_home`: host memory has the newest value, and no task is in progress.
  void give_back(std::unique_ptr<Data> status, bool at_home, bool among_ranks) noexcept;
  /// Must be called before StarPU ends.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Data>> spare_;
  std::vector<std::unique_ptr<HostBuffer>> memory_;
};

}  // namespace tesela::detail
