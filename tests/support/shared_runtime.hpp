#pragma once

#include <tesela/runtime/runtime.hpp>

#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <optional>
#include <utility>

// One runtime for all test cases of a program, since StarPU starts slowly.

namespace tesela::test {

inline std::optional<Runtime> shared_runtime;

/// Returns the runtime, created with these options at the first call.
inline Runtime& runtime(RuntimeOptions options = {}) {
  if (!shared_runtime) shared_runtime.emplace(std::move(options));
  return *shared_runtime;
}

/// While it lives, runtime() has only cores, see CoresOnly.
class RuntimeOfCores {
 public:
  RuntimeOfCores() {
    if (!alike_) shared_runtime.reset(), runtime({.gpus = 0});
  }
  ~RuntimeOfCores() {
    if (!alike_) shared_runtime.reset();
  }
  RuntimeOfCores(const RuntimeOfCores&) = delete;
  RuntimeOfCores& operator=(const RuntimeOfCores&) = delete;

 private:
  bool alike_ = runtime().gpus() == 0;
};

/// StarPU must stop while CUDA and our codelets exist, so not in the destructors of static objects.
class StopsRuntime : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override { shared_runtime.reset(); }
};
CATCH_REGISTER_LISTENER(StopsRuntime)

}  // namespace tesela::test
