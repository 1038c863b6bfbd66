#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

// Copies between a device's memory and a block's shared memory that nobody waits for. From sm_90 on the copying is done
// by hardware, one thread asks for all of it; before, and for what is not aligned to 16 bytes, every thread copies some
// elements. Internal to codelets/.

namespace tesela {

class BulkCopy {
 public:
  /// `barrier` is in shared memory. All threads of the block call this, and every function, together.
  __device__ explicit BulkCopy(std::uint64_t* barrier)
      : barrier_(static_cast<unsigned>(__cvta_generic_to_shared(barrier))) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier_) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
#endif
  }

  /// What is copied at once: both addresses of a packed copy are aligned to it, and its count is a multiple of it.
  template <class T>
  __device__ static constexpr int pack() {
    return 16 / static_cast<int>(sizeof(T));
  }

  /// Begins to copy `count` elements into shared memory.
  template <class T>
  __device__ void load(T* to, const T* from, int count) {
    const int packed = packed_part(to, from, count), t = static_cast<int>(threadIdx.x);
    if (packed > 0) load_packed(to, from, packed);
    for (int i = packed + t; i < count; i += static_cast<int>(blockDim.x))
      __pipeline_memcpy_async(to + i, from + i, sizeof(T));
  }
  template <class T>
  __device__ void load_packed(T* to, const T* from, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      const auto bytes = static_cast<unsigned>(count * static_cast<int>(sizeof(T)));
      const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier_), "r"(bytes) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
          "l"(from), "r"(bytes), "r"(barrier_)
          : "memory");
    }
#else
    for (int i = static_cast<int>(threadIdx.x) * pack<T>(); i < count; i += static_cast<int>(blockDim.x) * pack<T>())
      __pipeline_memcpy_async(to + i, from + i, 16);
#endif
  }

  /// Waits for all that was loaded.
  __device__ void wait_loads() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier_) : "memory");
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(barrier_)
                   : "memory");
#endif
    __syncthreads();
  }

  /// Between the writes to shared memory and store().
  __device__ static void before_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
  }

  /// Begins to copy `count` elements from shared memory, which must stay as it is.
  template <class T>
  __device__ static void store(T* to, const T* from, int count) {
    const int packed = packed_part(from, to, count);
    if (packed > 0) store_packed(to, from, packed);
    for (int i = packed + static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
  }
  template <class T>
  __device__ static void store_packed(T* to, const T* from, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      const auto bytes = static_cast<unsigned>(count * static_cast<int>(sizeof(T)));
      const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(from));
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared), "r"(bytes)
                   : "memory");
    }
#else
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
#endif
  }

  /// Waits until all that was stored has been read from shared memory.
  __device__ static void wait_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
  }

 private:
  template <class T>
  __device__ static int packed_part(const T* a, const T* b, int count) {
    const auto fits = [](const T* p) { return (reinterpret_cast<std::uintptr_t>(p) & 15) == 0; };
    return fits(a) && fits(b) ? count / pack<T>() * pack<T>() : 0;
  }

  unsigned barrier_;
};

}  // namespace tesela
