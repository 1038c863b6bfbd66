#pragma once

#include <cuda_runtime.h>

// The lanes of a warp, with the interface of bodies that the host's tests share. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

struct DeviceWarp {
  static constexpr unsigned all = 0xffffffffu;
  __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x % 32); }
  /// Returns the lane by a new read: values computed from it need no register between their uses.
  __device__ __forceinline__ int reread_lane() const {
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  template <class T>
  __device__ __forceinline__ T from(T x, int source) const {
    return __shfl_sync(all, x, source);
  }
  __device__ __forceinline__ bool any(bool x) const { return __any_sync(all, x) != 0; }
  __device__ __forceinline__ unsigned ballot(bool x) const { return __ballot_sync(all, x); }
  __device__ __forceinline__ void sync() const { __syncwarp(); }
};

}  // namespace tesela::kernels::mimo
