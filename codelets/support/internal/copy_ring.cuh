#pragma once

#include <cstdint>

// A ring of places in shared memory. A warp fills each place, by the copying hardware, and all warps read it: a reader
// waits for a place to be full, and the filling warp waits until all readers have left it. From sm_90 on. Internal to
// codelets/.

namespace tesela::kernels {

template <int places>
class CopyRing {
 public:
  static constexpr int barriers = 2 * places;

  /// `barriers` numbers in shared memory; `readers` warps read. All threads call this, then synchronize.
  __device__ CopyRing(std::uint64_t* barriers, int readers)
      : full_(static_cast<unsigned>(__cvta_generic_to_shared(barriers))), empty_(full_ + 8 * places) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x != 0) return;
    for (unsigned i = 0; i < places; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full_ + 8 * i) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(empty_ + 8 * i), "r"(32 * readers) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }

  /// Returns the next place to fill; read() returns the next place to read.
  __device__ int filled() const { return static_cast<int>(fills_.place); }
  __device__ int read() const { return static_cast<int>(reads_.place); }

  /// Starts to fill a place, after it has become empty; `bytes` is the total that will arrive. The whole warp that
  /// fills the place calls begin_filling(), fill() and end_filling() in turn; other warps call only end_filling().
  __device__ void begin_filling([[maybe_unused]] int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    wait(empty_ + 8 * fills_.place, fills_.parity ^ 1);
    if (threadIdx.x % 32 == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(full_ + 8 * fills_.place), "r"(bytes)
                   : "memory");
    __syncwarp();
#endif
  }
  /// Copies one lane's part: multiples of 16 bytes.
  __device__ void fill([[maybe_unused]] void* to, [[maybe_unused]] const void* from, [[maybe_unused]] int bytes) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(bytes), "r"(full_ + 8 * fills_.place)
                 : "memory");
#endif
  }
  __device__ void end_filling() { fills_.advance(); }

  /// Waits until the place is full. A whole warp calls this, and end_reading() after its last read.
  __device__ void begin_reading() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    wait(full_ + 8 * reads_.place, reads_.parity);
#endif
  }
  __device__ void end_reading() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // Every lane arrives for its own reads: a sanitizer does not see that one lane, after __syncwarp, could arrive for
    // all.
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty_ + 8 * reads_.place) : "memory");
#endif
    reads_.advance();
  }

 private:
  __device__ static void wait(unsigned barrier, unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(barrier), "r"(parity)
                   : "memory");
#endif
  }

  struct Turn {
    unsigned place = 0, parity = 0;
    __device__ void advance() {
      if (++place == places) {
        place = 0;
        parity ^= 1;
      }
    }
  };

  unsigned full_, empty_;
  Turn fills_, reads_;
};

}  // namespace tesela::kernels
