#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

// Barriers in shared memory and copies by hardware that end in them, for compute capability 9.0. `barrier` and `to` are
// addresses in shared memory. Internal to codelets/.

namespace tesela::kernels::int8 {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ bool arrived(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}
/// Waits for the end of a phase; traps after two seconds, so that a defect cannot occupy the device.
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  if (arrived(barrier, parity)) return;
  const long long start = clock64();
  while (!arrived(barrier, parity))
    if (clock64() - start > 4000000000ll) __trap();
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives, and adds bytes of copies to the phase.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Copies a box of a three-dimensional array.
__device__ __forceinline__ void copy_box(unsigned to, const CUtensorMap* map, int x, int y, int z, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Copies contiguous bytes, a multiple of 16.
__device__ __forceinline__ void copy_bytes(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/// Orders a thread's usual accesses and copies by hardware.
__device__ __forceinline__ void order_copies() { asm volatile("fence.proxy.async;" ::: "memory"); }
#endif

}  // namespace tesela::kernels::int8
