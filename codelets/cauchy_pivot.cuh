#pragma once

#include <cuda_runtime.h>
#include <math_constants.h>

#include <cstdint>

// How the thread blocks that sweep one block of C agree on the next pivot.

namespace tesela::cauchy {

/// What a warp, or a thread block, offers as the next pivot.
template <class T>
struct alignas(32) Candidate {
  T g, h, d;
  unsigned key;
  int row;
};

// A key orders diagonal entries by size: the leading bits of |d|, 10 of the mantissa in double precision and 13 in
// single; a pivot that much below the largest is as good. The last ten bits say whose it is, earlier rows first.
constexpr unsigned key_size = 0x7ffffc00;

__device__ inline unsigned leading_bits(double x) { return static_cast<unsigned>(__double2hiint(x)); }
__device__ inline unsigned leading_bits(float x) { return __float_as_uint(x); }

template <int R, class T>
__device__ unsigned pivot_key(T d, int slot) {
  return (leading_bits(d) & key_size) | static_cast<unsigned>(R - 1 - slot) << 5;
}
__device__ inline int lane_of(unsigned key) { return static_cast<int>(31 - (key & 31)); }
template <int R>
__device__ int slot_of(unsigned key) {
  return R - 1 - static_cast<int>(key >> 5 & 31);
}

/// Neither zero nor infinite nor NaN, nor so near to these that 1 / d is.
template <class T>
__device__ bool usable(unsigned key) {
  constexpr int mantissa = sizeof(T) == 8 ? 20 : 23;
  constexpr unsigned most = sizeof(T) == 8 ? 0x7fc : 0xfc;
  return (key >> mantissa) - 2 <= most - 2;
}

/// 1 / sqrt(x) for usable x: the hardware's estimate, improved once to third order.
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

/// x, negated where `sign` is negative, without the floating-point pipe.
__device__ inline double with_sign_of(double x, double sign) {
  return __hiloint2double(__double2hiint(x) ^ (__double2hiint(sign) & static_cast<int>(0x80000000)),
                          __double2loint(x));
}
__device__ inline float with_sign_of(float x, float sign) {
  return __uint_as_float(__float_as_uint(x) ^ (__float_as_uint(sign) & 0x80000000u));
}

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// In shared memory. Everything is there twice, for steps of either parity: who writes for step k + 2 has seen all
/// candidates of step k + 1, which were sent after step k's had been read.
template <class T>
struct Exchange {
  Candidate<T> candidates[2][32], blocks[2][16];
  unsigned keys[2][32];
  std::uint64_t arrived[2];
  int negative;         // of the pivots so far, thread 0's notes
  T smallest, largest;  // in absolute value

  __device__ Candidate<T>& candidate(int step, int warp) { return candidates[step & 1][warp]; }
  __device__ unsigned& key(int step, int warp) { return keys[step & 1][warp]; }

  __device__ void start(int cluster) {
    if (threadIdx.x == 0) negative = 0, smallest = static_cast<T>(CUDART_INF), largest = T(0);
    if (cluster > 1) {
#if __CUDA_ARCH__ >= 900
      if (threadIdx.x == 0) {
        for (auto& one : arrived) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&one)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      }
#endif
      synchronize();
    }
    __syncthreads();
  }
  /// No block leaves while another may still write to it.
  __device__ void finish(int cluster) {
    if (cluster > 1) synchronize();
  }

  __device__ void note(T pivot) {
    const T size = pivot < T(0) ? -pivot : pivot;
    negative += pivot < T(0) ? 1 : 0;
    if (size < smallest) smallest = size;
    if (size > largest) largest = size;
  }

  /// The best of all warps' candidates, which each has written.
  __device__ Candidate<T> choose(int step, int warp, int warps, int rank, int cluster, int lane) {
    __syncthreads();
    if (cluster == 1) return candidate(step, best_of(lane < warps ? key(step, lane) : 0, lane));
    if (warp == 0) send(step, candidate(step, best_of(lane < warps ? key(step, lane) : 0, lane)), rank, cluster, lane);
    await(step);
    return blocks[step & 1][best_of(lane < cluster ? blocks[step & 1][lane].key : 0, lane)];
  }

 private:
  __device__ static int best_of(unsigned key, int lane) {
    return lane_of(__reduce_max_sync(~0u, (key & key_size) | (31u - static_cast<unsigned>(lane))));
  }

  __device__ static void synchronize() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }

  __device__ void send(int step, const Candidate<T>& from, int rank, int cluster, int lane) {
#if __CUDA_ARCH__ >= 900
    const std::uint32_t own = shared_address(&arrived[step & 1]);
    if (lane == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own), "r"(32 * cluster) : "memory");
    const auto* const words = reinterpret_cast<const uint4*>(&from);
    const uint4 a = words[0], b = words[1];
    if (lane >= cluster) return;
    std::uint32_t to, signal;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(to)
                 : "r"(shared_address(&blocks[step & 1][rank])), "r"(lane));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(signal) : "r"(own), "r"(lane));
    const auto store = [signal](std::uint32_t at, const uint4& v) {
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(at),
                   "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(signal)
                   : "memory");
    };
    store(to, a);
    store(to + 16, b);
#else
    (void)step, (void)from, (void)rank, (void)cluster, (void)lane;
#endif
  }

  __device__ void await(int step) {
#if __CUDA_ARCH__ >= 900
    const std::uint32_t own = shared_address(&arrived[step & 1]), parity = static_cast<unsigned>(step) >> 1 & 1;
    std::uint32_t done = 0;
    while (done == 0)
      asm volatile(
          "{ .reg .pred p;\n"
          "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "  selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(own), "r"(parity)
          : "memory");
#else
    (void)step;
#endif
  }
};

}  // namespace tesela::cauchy
