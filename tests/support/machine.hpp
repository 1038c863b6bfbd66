#pragma once

#include "tests/support/test.hpp"
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/runtime.hpp>

#include <chrono>
#include <cstdlib>

namespace tesela::test {

/// Skips the rest of a test case, visibly, if there is no GPU.
inline void require_gpu() {
  if (count_cuda_devices() == 0) SKIP("no CUDA device here");
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns tests/data or its path in a bundle.
inline std::string data_directory() {
  const char* elsewhere = std::getenv("TESELA_TEST_DATA");
  return elsewhere != nullptr ? elsewhere : TESELA_TEST_DATA;
}

}  // namespace tesela::test
