#pragma once

#include "interfaces/c/call.hpp"
#include <tesela/runtime/runtime.hpp>

#include <shared_mutex>

namespace tesela::c {

/// A call that uses the workers. The first call of the process starts them with the environment's settings; nobody can
/// stop them while a Session lives. Throws as Runtime does.
class Session {
 public:
  Session();
  Runtime& runtime() const { return *runtime_; }
  operator Runtime&() const { return *runtime_; }

 private:
  std::shared_lock<std::shared_mutex> lock_;
  Runtime* runtime_;
};

/// Sets the options with which the first call starts the workers; the default is the environment's settings.
void set_usual_options(RuntimeOptions (*options)());

/// Starts the workers. Throws LifetimeError if they already run.
void start_workers(const RuntimeOptions& options);

/// Frees every handle, waits for all tasks, and stops the workers if they run. The next call starts them again. It also
/// runs at the end of the process, before CUDA shuts down.
void stop_workers();

}  // namespace tesela::c
