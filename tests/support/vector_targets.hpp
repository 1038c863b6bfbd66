#pragma once

#include <tesela/host/vector_target.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <string>

namespace tesela::test {

/// While it lives, kernels use the vector unit `name`.
class UseVectorTarget {
 public:
  explicit UseVectorTarget(const std::string& name) { use_vector_target(name); }
  ~UseVectorTarget() { use_vector_target(""); }
  UseVectorTarget(const UseVectorTarget&) = delete;
  UseVectorTarget& operator=(const UseVectorTarget&) = delete;
};

}  // namespace tesela::test

/// Runs the test on each vector unit of this machine and names the unit in failures. Use it at the start of a test.
#define TESELA_ON_EACH_VECTOR_TARGET()                                                                          \
  const std::string tesela_vector_target = GENERATE(Catch::Generators::from_range(::tesela::vector_targets())); \
  INFO("vector unit: " << tesela_vector_target);                                                                \
  const ::tesela::test::UseVectorTarget tesela_use_vector_target(tesela_vector_target)
