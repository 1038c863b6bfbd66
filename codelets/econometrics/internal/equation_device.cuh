#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela::kernels::equation {

/// picks of equations with room for r regressors each.
struct DeviceSelectedColumns {
  const int* data;
  index_t r;
  __device__ const int* at(index_t equation, index_t p) const { return data + 2 * (p + equation * (r + 2)); }
};

constexpr int lanes = 32, teams = 8;  // of a block: rows, and parts of their sums

inline dim3 team() { return dim3(lanes, teams); }

/// Returns a block's sum over its teams, for each lane's row.
__device__ inline double over_teams(double value) {
  __shared__ double partial[teams][lanes];
  __syncthreads();
  partial[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  double sum = 0;
  for (int t = 0; t < teams; ++t) sum += partial[t][threadIdx.x];
  return sum;
}

}  // namespace tesela::kernels::equation
