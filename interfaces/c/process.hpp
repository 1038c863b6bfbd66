#pragma once

#include "interfaces/c/call.hpp"
#include <tesela/runtime/runtime.hpp>

#include <shared_mutex>

namespace tesela::c {

/// A call that uses the workers. The first one of the process starts them, with what the environment says; while it
/// lives nobody stops them. Throws as Runtime does.
class Session {
 public:
  Session();
  Runtime& runtime() const { return *runtime_; }
  operator Runtime&() const { return *runtime_; }

 private:
  std::shared_lock<std::shared_mutex> lock_;
  Runtime* runtime_;
};

/// What the first call starts the workers with: by default what the environment says.
void set_usual_options(RuntimeOptions (*options)());

/// Starts the workers. Throws LifetimeError where they run already.
void start_workers(const RuntimeOptions& options);

/// Frees every handle, waits for all tasks, and stops the workers, if they run. The next call starts them again. It is
/// done when the process ends, before CUDA goes.
void stop_workers();

}  // namespace tesela::c
