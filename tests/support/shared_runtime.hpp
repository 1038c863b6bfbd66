#pragma once

#include "tests/support/machine.hpp"
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

/// While it lives, runtime() has only cores, see CoresAlone.
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

// GPU_TEST_CASE(name, tags) { … } tests on GPUs alone: `runtime` is a Runtime&. The tag [gpu] is added to the tags.
//
// WORKERS_TEST_CASE(name, tags) { … } tests the same on cores, and then as "name on a GPU" like GPU_TEST_CASE. Only the
// second case has the tags. If something differs, the body asks runtime.gpus().
//
// KERNEL_TEST_CASE(name, tags) { … } is a WORKERS_TEST_CASE whose `runtime` is a Runtime*, and null on cores, as
// run_kernel accepts it.
//
// …_TEMPLATE_TEST_CASE(name, tags, types) { … } tests for each TestType.

#define GPU_TEST_CASE(...) TESELA_GPU_CASE(INTERNAL_CATCH_UNIQUE_NAME(on_workers), __VA_ARGS__)
#define GPU_TEMPLATE_TEST_CASE(...) TESELA_GPU_CASES(INTERNAL_CATCH_UNIQUE_NAME(on_workers), __VA_ARGS__)
#define WORKERS_TEST_CASE(...) TESELA_BOTH_CASE(INTERNAL_CATCH_UNIQUE_NAME(on_workers), tesela::Runtime&, __VA_ARGS__)
#define WORKERS_TEMPLATE_TEST_CASE(...) \
  TESELA_BOTH_CASES(INTERNAL_CATCH_UNIQUE_NAME(on_workers), tesela::Runtime&, __VA_ARGS__)
#define KERNEL_TEST_CASE(...) TESELA_BOTH_CASE(INTERNAL_CATCH_UNIQUE_NAME(on_workers), tesela::Runtime*, __VA_ARGS__)
#define KERNEL_TEMPLATE_TEST_CASE(...) \
  TESELA_BOTH_CASES(INTERNAL_CATCH_UNIQUE_NAME(on_workers), tesela::Runtime*, __VA_ARGS__)

#define TESELA_GPU_CASE(body, name, tags)                        \
  static void body(tesela::Runtime&);                            \
  TEST_CASE(name, "[gpu]" tags) { tesela::test::on_gpus(body); } \
  static void body([[maybe_unused]] tesela::Runtime& runtime)
#define TESELA_GPU_CASES(body, name, tags, ...)                                                  \
  template <class>                                                                               \
  static void body(tesela::Runtime&);                                                            \
  TEMPLATE_TEST_CASE(name, "[gpu]" tags, __VA_ARGS__) { tesela::test::on_gpus(body<TestType>); } \
  template <class TestType>                                                                      \
  static void body([[maybe_unused]] tesela::Runtime& runtime)
#define TESELA_BOTH_CASE(body, pointer, name, tags)                          \
  static void body(pointer);                                                 \
  TEST_CASE(name) { tesela::test::on_cores(body); }                          \
  TEST_CASE(name " on a GPU", "[gpu]" tags) { tesela::test::on_gpus(body); } \
  static void body([[maybe_unused]] pointer runtime)
#define TESELA_BOTH_CASES(body, pointer, name, tags, ...)                                                    \
  template <class>                                                                                           \
  static void body(pointer);                                                                                 \
  TEMPLATE_TEST_CASE(name, "", __VA_ARGS__) { tesela::test::on_cores(body<TestType>); }                      \
  TEMPLATE_TEST_CASE(name " on a GPU", "[gpu]" tags, __VA_ARGS__) { tesela::test::on_gpus(body<TestType>); } \
  template <class TestType>                                                                                  \
  static void body([[maybe_unused]] pointer runtime)
