#pragma once

#include "runtime/runtime.hpp"
#include "runtime/topology.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tesela::test {

/// Skips the rest of a test case, visibly, where there is no GPU.
inline void require_gpu() {
  if (count_cuda_devices() == 0) SKIP("no CUDA device here");
}

}  // namespace tesela::test
