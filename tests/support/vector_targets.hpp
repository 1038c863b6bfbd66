#pragma once

#include "tests/support/test.hpp"
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/runtime.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/generators/catch_generators_range.hpp>

namespace tesela::test {

/// While it lives, kernels use the vector unit `name`.
class UseVectorTarget {
 public:
  explicit UseVectorTarget(const std::string& name) { use_vector_target(name); }
  ~UseVectorTarget() { use_vector_target(""); }
  UseVectorTarget(const UseVectorTarget&) = delete;
  UseVectorTarget& operator=(const UseVectorTarget&) = delete;
};

/// Returns the vector units that a test runs on: all of them, or the best one if no core runs its kernels.
inline std::vector<std::string> targets_of() { return vector_targets(); }
inline std::vector<std::string> targets_of(const Runtime* gpus) {
  return gpus == nullptr ? vector_targets() : std::vector<std::string>{""};
}
inline std::vector<std::string> targets_of(const Runtime& runtime) {
  return targets_of(runtime.cpus() > 0 ? nullptr : &runtime);
}

}  // namespace tesela::test

/// Runs the test on each vector unit of this machine and names the unit in failures. Use it at the start of a test,
/// with the runtime if that may have GPUs alone.
#define TESELA_ON_EACH_VECTOR_TARGET(...)                                                   \
  const std::string tesela_vector_target =                                                  \
      GENERATE_REF(Catch::Generators::from_range(::tesela::test::targets_of(__VA_ARGS__))); \
  INFO("vector unit: " << tesela_vector_target);                                            \
  const ::tesela::test::UseVectorTarget tesela_use_vector_target(tesela_vector_target)
