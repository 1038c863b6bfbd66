#pragma once

#include <tesela/runtime/runtime.hpp>

#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <optional>
#include <utility>

// One runtime for all test cases of a program, because StarPU takes its time to start.

namespace tesela::test {

inline std::optional<Runtime> shared_runtime;

/// Made at the first call, with these options.
inline Runtime& runtime(RuntimeOptions options = {}) {
  if (!shared_runtime) shared_runtime.emplace(std::move(options));
  return *shared_runtime;
}

/// While it lives, runtime() has cores alone, as CoresAlone says.
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

/// StarPU must stop while CUDA and our codelets still stand, not among the static objects' destructors.
class StopsRuntime : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override { shared_runtime.reset(); }
};
CATCH_REGISTER_LISTENER(StopsRuntime)

}  // namespace tesela::test
