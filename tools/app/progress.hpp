#pragma once

#include <tesela/runtime/types.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tesela::cli {

/// Shows the number of finished tasks on standard error while it lives, if that is a terminal and the run takes longer
/// than half a second.
class ProgressBar {
 public:
  explicit ProgressBar(index_t tasks);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void show_until_done(index_t tasks);
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace tesela::cli
