#include "interfaces/c/process.hpp"

#include "interfaces/c/handles.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace tesela::c {
namespace {

/// Never destroyed: threads may still call while the process ends.
struct Process {
  std::shared_mutex mutex;  // shared by calls; exclusive to start and to stop
  std::unique_ptr<Runtime> runtime;
  std::atomic<bool> running{false}, forked{false};
  RuntimeOptions (*usual_options)() = [] { return RuntimeOptions{}; };
  bool ended = false;  // the handler at exit has run: what workers need, CUDA above all, may have gone since
};

Process& process() {
  static Process* const one = new Process;
  return *one;
}

/// With the lock held.
void stop_locked() {
  if (process().runtime == nullptr) return;
  free_all_handles();
  process().runtime.reset();
  process().running = false;
}

void end_workers() {
  if (forked()) return;  // the end of a child
  const std::unique_lock alone(process().mutex);
  stop_locked();
  process().ended = true;
}

/// With the lock held.
void start_locked(const RuntimeOptions& options) {
  if (process().ended) throw LifetimeError("the process ends, and its workers have ended: make no more calls");
  process().runtime = std::make_unique<Runtime>(options);
  process().running = true;
  [[maybe_unused]] static const int once =
      pthread_atfork(nullptr, nullptr, [] { process().forked = process().running.load(); });
  // At each start: CUDA's own handlers, and those of memory that tasks may work on, stand by now, so that this one runs
  // before them.
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
