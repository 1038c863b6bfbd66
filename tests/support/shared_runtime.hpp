#pragma once

#include "tests/support/machine.hpp"
#include <tesela/runtime/runtime.hpp>

#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <optional>
#include <type_traits>
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

/// Calls a test body with a runtime of cores alone, or without a runtime if the body accepts a pointer.
template <class R>
void on_cores(void (*body)(R)) {
  if constexpr (std::is_pointer_v<R>) {
    body(nullptr);
  } else {
    shared_runtime.reset();
    Runtime runtime({.gpus = 0});
    body(runtime);
  }
}

/// Calls a test body with a runtime of GPUs alone, or skips it visibly if there is no GPU.
template <class R>
void on_gpus(void (*body)(R)) {
  require_gpu();
  shared_runtime.reset();
  Runtime runtime({.cpus = 0});
  if constexpr (std::is_pointer_v<R>) {
    body(&runtime);
  } else {
    body(runtime);
  }
}

}  // namespace tesela::test

// CORES_TEST_CASE(name, tags) { … } is a TEST_CASE whose `runtime` is a Runtime& with cores alone.
//
// GPU_TEST_CASE(name, tags) { … } has GPUs alone and the tag [gpu], and is skipped without a GPU.
//
// WORKERS_TEST_CASE(name, tags) { … } is both: a case on cores, and "name on a GPU". Only the second one has the tags.
// The body asks runtime.gpus() if it differs on GPUs.
//
// KERNEL_TEST_CASE(name, tags) { … } is a WORKERS_TEST_CASE with a Runtime*, null on cores, as run_kernel accepts it.
//
// …_TEMPLATE_TEST_CASE(name, tags, types) { … } runs its body for each TestType.

#define CORES_TEST_CASE(...) TESELA_CASE(TESELA_ON_CORES, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define CORES_TEMPLATE_TEST_CASE(...) TESELA_TEMPLATE(TESELA_ON_CORES_T, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define GPU_TEST_CASE(...) TESELA_CASE(TESELA_ON_GPUS, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define GPU_TEMPLATE_TEST_CASE(...) TESELA_TEMPLATE(TESELA_ON_GPUS_T, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define WORKERS_TEST_CASE(...) TESELA_CASE(TESELA_ON_BOTH, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define WORKERS_TEMPLATE_TEST_CASE(...) TESELA_TEMPLATE(TESELA_ON_BOTH_T, TESELA_BODY, tesela::Runtime&, __VA_ARGS__)
#define KERNEL_TEST_CASE(...) TESELA_CASE(TESELA_ON_BOTH, TESELA_BODY, tesela::Runtime*, __VA_ARGS__)
#define KERNEL_TEMPLATE_TEST_CASE(...) TESELA_TEMPLATE(TESELA_ON_BOTH_T, TESELA_BODY, tesela::Runtime*, __VA_ARGS__)

#define TESELA_BODY INTERNAL_CATCH_UNIQUE_NAME(test_body)
#define TESELA_CASE(cases, body, argument, ...) \
  static void body(argument);                   \
  cases(body, __VA_ARGS__) static void body([[maybe_unused]] argument runtime)
#define TESELA_TEMPLATE(cases, body, argument, ...)  \
  template <class>                                   \
  static void body(argument);                        \
  cases(body, __VA_ARGS__) template <class TestType> \
  static void body([[maybe_unused]] argument runtime)
#define TESELA_ON_CORES(body, name, ...) \
  TEST_CASE(name, "" __VA_ARGS__) { tesela::test::on_cores(body); }
#define TESELA_ON_GPUS(body, name, ...) \
  TEST_CASE(name, "[gpu]" __VA_ARGS__) { tesela::test::on_gpus(body); }
#define TESELA_ON_BOTH(body, name, ...) \
  TESELA_ON_CORES(body, name)           \
  TESELA_ON_GPUS(body, name " on a GPU", __VA_ARGS__)
#define TESELA_ON_CORES_T(body, name, tags, ...) \
  TEMPLATE_TEST_CASE(name, tags, __VA_ARGS__) { tesela::test::on_cores(body<TestType>); }
#define TESELA_ON_GPUS_T(body, name, tags, ...) \
  TEMPLATE_TEST_CASE(name, "[gpu]" tags, __VA_ARGS__) { tesela::test::on_gpus(body<TestType>); }
#define TESELA_ON_BOTH_T(body, name, tags, ...)  \
  TESELA_ON_CORES_T(body, name, "", __VA_ARGS__) \
  TESELA_ON_GPUS_T(body, name " on a GPU", tags, __VA_ARGS__)
