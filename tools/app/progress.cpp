#include "tools/app/progress.hpp"

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/io/reading.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tesela::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  return whole < 3600 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

/// Returns the end of a file's name.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 24;
  return name.size() <= most ? name : "..." + name.substr(name.size() - most + 3);
}

/// A stage, and how much of it is done.
struct Line {
  std::string title = {}, amount = {};
  Clock::time_point since = {};
  double share = -1;  ///< negative: unknown
};

std::string text_of(const Line& line, std::size_t frame) {
  constexpr std::size_t width = 20;
  const double elapsed = std::chrono::duration<double>(Clock::now() - line.since).count();
  std::string text = line.title;
  if (line.share >= 0)
    text += fmt::format(" [{:<{}}] {:3.0f} %", std::string(static_cast<std::size_t>(line.share * width), '#'), width,
                        std::floor(100 * line.share));
  else
    text += fmt::format(" {}", "|/-\\"[frame % 4]);
  text += line.amount + "  " + duration(elapsed);
  constexpr double least = 0.02;  // below it the estimate means little
  if (line.share >= least) text += fmt::format(", {} left", duration(elapsed * (1 - line.share) / line.share + 0.5));
  return text;
}

class Display {
 public:
  bool start() {
    if (forbidden_ || isatty(STDERR_FILENO) == 0 || thread_.joinable()) return false;
    show(Stage::input, 0);
    ending_ = false;
    try {
      thread_ = std::thread([this] { draw_until_end(); });
    } catch (const std::system_error&) {  // no thread for a mere display
      return false;
    }
    return true;
  }
  void forbid() { forbidden_ = true; }
  void show(Stage stage, index_t tasks) {
    const std::lock_guard lock(mutex_);
    stage_ = stage, tasks_ = tasks, since_ = Clock::now();
  }
  void end() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  Line line() const {
    Line line{.since = since_};
    switch (stage_) {
      case Stage::input:
        if (const Reading::State file = Reading::now(); !file.name.empty()) {
          line.title = "reading " + shortened(file.name), line.since = file.since;
          if (file.size > 0)
            line.share = static_cast<double>(file.bytes) / static_cast<double>(file.size);
          else
            line.amount = fmt::format("  {:.1f} MiB", static_cast<double>(file.bytes) / (1024 * 1024));
        } else {
          line.title = "preparing the input";
        }
        break;
      case Stage::solving:
        line.title = "solving";
        if (tasks_ > 0) {
          const index_t ran = std::clamp<index_t>(tasks_ - Runtime::pending_tasks(), 0, tasks_);
          line.share = static_cast<double>(ran) / static_cast<double>(tasks_);
          line.amount = fmt::format("  {} of {} tasks", ran, tasks_);
        }
        break;
      case Stage::checking: line.title = "checking the result"; break;
      case Stage::writing: line.title = "writing"; break;
      case Stage::ending: line.title = "finishing"; break;
    }
    return line;
  }

  void draw_until_end() {
    using namespace std::chrono_literals;
    bool drawn = false;
    std::unique_lock lock(mutex_);
    for (std::size_t frame = 0; !ended_.wait_for(lock, 100ms, [this] { return ending_; }); ++frame) {
      const Line now = line();
      if (!drawn && Clock::now() - now.since < 500ms) continue;
      lock.unlock();  // a slow terminal delays no stage
      fmt::print(stderr, "\r\x1b[K{}", text_of(now, frame));
      std::fflush(stderr);
      drawn = true;
      lock.lock();
    }
    if (drawn) fmt::print(stderr, "\r\x1b[K");
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread thread_;
  bool forbidden_ = false, ending_ = false;
  Stage stage_ = Stage::input;
  index_t tasks_ = 0;
  Clock::time_point since_;
};

/// Never destroyed: exit() may run in another thread.
Display& display() {
  static auto& one = *new Display;
  return one;
}

}  // namespace

bool start_progress() { return display().start(); }
void forbid_progress() { display().forbid(); }
void show_progress(Stage stage, index_t tasks) { display().show(stage, tasks); }
void end_progress() { display().end(); }

}  // namespace tesela::cli
