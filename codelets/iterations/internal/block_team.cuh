#pragma once

#include <tesela/codelets/iterations/internal/team.hpp>

// A thread block as a team (team.hpp). Its warps stay together: loops over a group's work are the same for all groups
// of a warp, or the group is the warp. Internal to codelets/.

namespace tesela::kernels::iterations {

template <class T, int group_lanes>
struct BlockTeam {
  static constexpr bool alone = false;
  static constexpr index_t lanes = group_lanes;
  index_t rank = threadIdx.x, size = blockDim.x;
  index_t group = threadIdx.x / group_lanes, groups = blockDim.x / group_lanes, lane = threadIdx.x % group_lanes;

  __device__ BlockTeam<T, 8> narrow() const { return {}; }
  __device__ void sync() const { __syncthreads(); }
  __device__ void together() const { __syncwarp(); }
  __device__ T sum(T value) const {
#pragma unroll
    for (int far = group_lanes / 2; far > 0; far /= 2) value += __shfl_xor_sync(0xffffffffu, value, far);
    return value;
  }
  __device__ T dot(index_t n, const T* x, const T* y) const {
    T all = 0;
    for (index_t i = lane; i < n; i += lanes) all += x[i] * y[i];
    return sum(all);
  }
  __device__ void axpy(index_t n, T alpha, const T* x, T* y) const {
    for (index_t i = lane; i < n; i += lanes) y[i] += alpha * x[i];
  }
  __device__ void scale(index_t n, T alpha, T* x) const {
    for (index_t i = lane; i < n; i += lanes) x[i] *= alpha;
  }
  __device__ void product(index_t m, index_t n, index_t k, const T* a, index_t lda, const T* b, index_t ldb, T* c,
                          index_t ldc) const {
    for (index_t j = group; j < n; j += groups)
      for (index_t i = lane; i < m; i += lanes) {
        T all = 0;
        for (index_t q = 0; q < k; ++q) all += a[i + q * lda] * b[q + j * ldb];
        c[i + j * ldc] = all;
      }
    sync();
  }
};

}  // namespace tesela::kernels::iterations
