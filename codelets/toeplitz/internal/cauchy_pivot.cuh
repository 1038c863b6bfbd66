#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <math_constants.h>

// How the thread blocks that sweep one block of C agree on the next pivot.

namespace tesela::kernels::cauchy {

/// The next pivot, as a thread block offers it to the others: g and h are multiplied by 1 / sqrt|d|.
template <class T>
struct alignas(32) Pivot {
  T g, h, d;
  unsigned key;
  int row;
};

// A key orders diagonal entries by size: the leading bits of |d|, 6 of the mantissa in double precision and 9 in
// single; a pivot that is smaller than the largest only in later bits is as good. The other bits identify the row of
// the thread block, earlier rows first.
constexpr unsigned key_size = 0x7fffc000, key_row = 0x3fff;

__device__ inline unsigned leading_bits(double x) { return static_cast<unsigned>(__double2hiint(x)); }
__device__ inline unsigned leading_bits(float x) { return __float_as_uint(x); }
__device__ inline double from_leading_bits(unsigned bits, double) {
  return __hiloint2double(static_cast<int>(bits), 0);
}
__device__ inline double from_leading_bits(unsigned bits, float) { return static_cast<double>(__uint_as_float(bits)); }

/// Returns the key with which a thread compares its own rows: `slot` instead of the row.
template <class T>
__device__ unsigned slot_key(T d, int slot) {
  return (leading_bits(d) & key_size) | static_cast<unsigned>(31 - slot) << 5;
}
constexpr unsigned no_row = 31 << 5;  ///< slot 0 without an offer: a block without remaining rows still answers
/// Returns the offset that turns it into the key of row `row` + 32 slot.
__device__ inline unsigned row_offset(unsigned row) { return key_row - 992 - row; }
__device__ inline unsigned row_of(unsigned key) { return key_row - (key & key_row); }

/// Returns whether x is neither zero, infinite nor NaN, and not so near to these that 1 / x is.
template <class T>
__device__ bool usable(unsigned key) {
  constexpr int mantissa = sizeof(T) == 8 ? 20 : 23;
  constexpr unsigned most = sizeof(T) == 8 ? 0x7fc : 0xfc;
  return (key >> mantissa) - 2 <= most - 2;
}

/// Returns 1 / sqrt(x) for usable x: the hardware's estimate, improved once to third order.
__device__ inline double inverse_root(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x * y, y, 1.0);
  return fma(y * e, fma(0.375, e, 0.5), y);
}
__device__ inline float inverse_root(float x) {
  const float y = rsqrtf(x), e = fmaf(-x * y, y, 1.0f);
  return fmaf(0.5f * y, e, y);
}

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// Messages between the warps of a thread block, and between the thread blocks of a cluster; in shared memory.
template <class T>
struct Exchange {
  Pivot<T> own, all[2][16];  // all: of odd and of even steps
  std::uint64_t arrived[2];
  unsigned best[3];            // of this step, the next and the last
  int negative;                // of the pivots up to here, written by thread 0
  unsigned smallest, largest;  // their leading bits
  T scale;                     // 1 / sqrt|own.d|

  __device__ void start(int cluster) {
    if (threadIdx.x == 0) {
      best[0] = best[1] = best[2] = 0;
      negative = 0, smallest = leading_bits(static_cast<T>(CUDART_INF)), largest = 0;
    }
#if __CUDA_ARCH__ >= 900
    if (cluster > 1) {
      if (threadIdx.x == 0) {
        for (auto& one : arrived) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&one)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      }
      synchronize();
    }
#endif
    __syncthreads();
  }
  /// Waits until no other block of the cluster can write to this block.
  __device__ void finish(int cluster) {
    if (cluster > 1) synchronize();
  }

  /// Records a pivot, in one thread, without waiting.
  __device__ void note(T pivot) {
    const unsigned bits = leading_bits(pivot), size = bits & 0x7fffffff;
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(shared_address(&negative)), "r"(bits >> 31) : "memory");
    asm volatile("red.shared.min.u32 [%0], %1;" ::"r"(shared_address(&smallest)), "r"(size) : "memory");
    asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(shared_address(&largest)), "r"(size) : "memory");
  }

  /// Returns the largest of all threads' keys.
  __device__ unsigned best_of_block(unsigned key, int step) {
    const int now = step % 3;
    key = __reduce_max_sync(~0u, key);
    if (threadIdx.x % 32 == 0)
      asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(shared_address(&best[now])), "r"(key) : "memory");
    // Its last readers have passed the barrier of the previous step.
    if (threadIdx.x == 0) best[now == 2 ? 0 : now + 1] = 0;
    __syncthreads();
    return best[now];
  }

  /// Sends `own` to all blocks of the cluster, by a whole warp. A block that writes for step k + 2 has received all
  /// blocks' messages of step k + 1, which they sent after reading the messages of step k.
  __device__ void send(int step, int rank, int cluster, int lane) {
#if __CUDA_ARCH__ >= 900
    const std::uint32_t signal = shared_address(&arrived[step & 1]);
    if (lane == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(signal), "r"(32 * cluster) : "memory");
    __syncwarp();
    const auto* const words = reinterpret_cast<const uint4*>(&own);
    const uint4 a = words[0], b = words[1];
    if (lane >= cluster) return;
    std::uint32_t to, remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(to)
                 : "r"(shared_address(&all[step & 1][rank])), "r"(lane));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(signal), "r"(lane));
    const auto store = [remote](std::uint32_t at, const uint4& v) {
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(at),
          "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(remote)
          : "memory");
    };
    store(to, a);
    store(to + 16, b);
#endif
  }

  /// Returns the best pivot that the blocks have sent.
  __device__ const Pivot<T>& receive(int step, int cluster, int lane) {
#if __CUDA_ARCH__ >= 900
    const std::uint32_t signal = shared_address(&arrived[step & 1]), parity = static_cast<unsigned>(step) >> 1 & 1;
    std::uint32_t done = 0;
    while (done == 0)
      asm volatile(
          "{ .reg .pred p;\n"
          "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "  selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(signal), "r"(parity)
          : "memory");
#endif
    const unsigned size = lane < cluster ? all[step & 1][lane].key & key_size : 0;
    return all[step & 1][row_of(__reduce_max_sync(~0u, size | (key_row - static_cast<unsigned>(lane))))];
  }

 private:
  __device__ static void synchronize() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }
};

}  // namespace tesela::kernels::cauchy
