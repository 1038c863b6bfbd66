#include "tools/app/progress.hpp"

#include <tesela/runtime/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace tesela::cli {

ProgressBar::ProgressBar(index_t tasks) {
  if (isatty(STDERR_FILENO) != 0 && tasks > 0) thread_ = std::thread([this, tasks] { show_until_done(tasks); });
}

ProgressBar::~ProgressBar() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  finished_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressBar::show_until_done(index_t tasks) {
  using namespace std::chrono_literals;
  constexpr index_t width = 40;
  bool shown = false;
  std::unique_lock lock(mutex_);
  for (auto wait = 500ms; !finished_.wait_for(lock, wait, [this] { return done_; }); wait = 100ms) {
    const index_t ran = std::clamp<index_t>(tasks - Runtime::pending_tasks(), 0, tasks);
    fmt::print(stderr, "\r[{:<{}}] {:3} %  {} of {} tasks",
               std::string(static_cast<std::size_t>(ran * width / tasks), '#'), width, ran * 100 / tasks, ran, tasks);
    shown = true;
  }
  if (shown) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace tesela::cli
