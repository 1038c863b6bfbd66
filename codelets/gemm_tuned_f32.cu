#include "codelets/gemm_tuned.cuh"

namespace tesela::kernels {
namespace {

struct FloatMath {
  using Value = float;
  #ifndef SETS
#define SETS 2
#endif
#ifndef DEPTH
#define DEPTH 32
#endif
#ifndef STAGES
#define STAGES 4
#endif
  static constexpr int depth = DEPTH, stages = STAGES, fragment_sets = SETS;
  struct Accumulators {
    float value[tuned::frags_m][tuned::frags_n][4];
  };

  __device__ static void multiply(Accumulators& acc, const tuned::Fragments<float>& f) {
    float big_b[tuned::frags_n][2], small_b[tuned::frags_n][2];
#pragma unroll
    for (int ni = 0; ni < tuned::frags_n; ++ni) {
#pragma unroll
      for (int e = 0; e < 2; ++e) split(f.b[ni][e], big_b[ni][e], small_b[ni][e]);
    }
#pragma unroll
    for (int mi = 0; mi < tuned::frags_m; ++mi) {
      float big_a[4], small_a[4], sum[tuned::frags_n][4] = {};
#pragma unroll
      for (int e = 0; e < 4; ++e) split(f.a[mi][e], big_a[e], small_a[e]);
#pragma unroll
      for (int ni = 0; ni < tuned::frags_n; ++ni) step(sum[ni], small_a, big_b[ni]);
#pragma unroll
      for (int ni = 0; ni < tuned::frags_n; ++ni) step(sum[ni], big_a, small_b[ni]);
#pragma unroll
      for (int ni = 0; ni < tuned::frags_n; ++ni) step(sum[ni], big_a, big_b[ni]);
#pragma unroll
      for (int ni = 0; ni < tuned::frags_n; ++ni) {
#pragma unroll
        for (int e = 0; e < 4; ++e) acc.value[mi][ni][e] += sum[ni][e];
      }
    }
  }

 private:
  /// x = big + small exactly, big of 11 significant bits (what tf32 holds), rounded to nearest.
  __device__ static void split(float x, float& big, float& small) {
    big = __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
    small = x - big;
  }

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
