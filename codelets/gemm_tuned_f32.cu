#include "codelets/gemm_tuned.cuh"

namespace tesela::kernels {
namespace {

#ifndef DEPTH
#define DEPTH 16
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 64
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 32
#endif
struct FloatMath {
  using Value = float;
  static constexpr bool retry_nonfinite = true;
  using Tiles = tuned::BlockTiles<BM, BN, WM, WN>;
  static constexpr int depth = DEPTH, stages = STAGES, panels = 1;

  /// x = big + small / 2^11 exactly: big is x rounded to the 11 significant bits that tf32 holds.
  __device__ static void split(float x, float& big, float& small) {
#ifdef CVT
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    big = __uint_as_float(r);
#else
    big = __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
#endif
    small = x - big;
#ifdef SCALED
    small *= 2048.f;
#endif
  }

  struct Columns {
    float big[Tiles::frags_n][2], small[Tiles::frags_n][2];
    __device__ explicit Columns(const float (&b)[Tiles::frags_n][panels][2]) {
#pragma unroll
      for (int ni = 0; ni < Tiles::frags_n; ++ni) {
#pragma unroll
        for (int e = 0; e < 2; ++e) split(b[ni][0][e], big[ni][e], small[ni][e]);
      }
    }
  };

  __device__ static void multiply(float (&c)[Tiles::frags_n][4], const float (&a)[panels][4], const Columns& b) {
    float big[4], small[4], sum[Tiles::frags_n][4] = {};
#ifdef SCALED
    float small_sum[Tiles::frags_n][4] = {};
#endif
#pragma unroll
    for (int e = 0; e < 4; ++e) split(a[0][e], big[e], small[e]);
#ifdef SCALED
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(small_sum[ni], small, b.big[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(sum[ni], big, b.big[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(small_sum[ni], big, b.small[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) {
#pragma unroll
      for (int e = 0; e < 4; ++e) c[ni][e] += fmaf(small_sum[ni][e], 1.0f / 2048, sum[ni][e]);
    }
#else

#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(sum[ni], small, b.big[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(sum[ni], big, b.small[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(sum[ni], big, b.big[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) {
#pragma unroll
      for (int e = 0; e < 4; ++e) c[ni][e] += sum[ni][e];
    }
#endif
  }

 private:
  __device__ static void step(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#endif
  }
};

}  // namespace

template <>
int gemm_tuned<float>(CUstream_st* stream, const GemmProblem<float>& problem) {
  return tuned::gemm<FloatMath>(stream, problem);
}

}  // namespace tesela::kernels
