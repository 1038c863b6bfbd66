#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels::equation {

/// picks of equations with room for r regressors each.
struct DevicePicks {
  const int* data;
  index_t r;
  __device__ const int* at(index_t equation, index_t p) const { return data + 2 * (p + equation * (r + 2)); }
};

}  // namespace tesela::kernels::equation
