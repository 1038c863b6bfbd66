#include "interfaces/c/process.hpp"

#include "interfaces/c/handles.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace tesela::c {
namespace {

/// Never destroyed: threads may still make calls while the process ends.
struct Process {
  std::shared_mutex mutex;  // shared by calls; exclusive for start and stop
  std::unique_ptr<Runtime> runtime;
  std::atomic<bool> running{false}, forked{false};
  RuntimeOptions (*usual_options)() = [] { return RuntimeOptions{}; };
  bool ended = false;  // the exit handler has run: CUDA and other needs of workers may be gone
};

Process& process() {
  static Process* const one = new Process;
  return *one;
}

/// Requires the lock.
void stop_locked() {
  if (process().runtime == nullptr) return;
  free_all_handles();
  process().runtime.reset();
  process().running = false;
}

void end_workers() {
  if (forked()) return;  // a child process ends
  const std::unique_lock alone(process().mutex);
  stop_locked();
  process().ended = true;
}

/// Requires the lock.
void start_locked(const RuntimeOptions& options) {
  if (process().ended) throw LifetimeError("the process ends, and its workers have ended: make no more calls");
  process().runtime = std::make_unique<Runtime>(options);
  process().running = true;
  [[maybe_unused]] static const int once =
      pthread_atfork(nullptr, nullptr, [] { process().forked = process().running.load(); });
  // Registered at each start, after the exit handlers of CUDA and of memory that tasks may use, so that it runs before
  // them.
  std::atexit(end_workers);
}

}  // namespace

bool forked() noexcept { return process().forked; }

Session::Session() {
  lock_ = std::shared_lock(process().mutex);
  while (process().runtime == nullptr) {
    lock_.unlock();
    {
      const std::unique_lock alone(process().mutex);
      if (process().runtime == nullptr) start_locked(process().usual_options());
    }
    lock_.lock();
  }
  runtime_ = process().runtime.get();
}

void set_usual_options(RuntimeOptions (*options)()) { process().usual_options = options; }

void start_workers(const RuntimeOptions& options) {
  const std::unique_lock alone(process().mutex);
  if (process().runtime != nullptr) throw LifetimeError("the workers run already: set options before the first call");
  start_locked(options);
}

void stop_workers() {
  const std::unique_lock alone(process().mutex);
  stop_locked();
}

}  // namespace tesela::c
