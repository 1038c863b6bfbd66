#include <tesela/codelets/dense/internal/gemm_tuned.cuh>

namespace tesela::kernels {
namespace tuned {

/// Multiplies floats on the tf32 tensor cores at the accuracy of float.
///
/// A tensor core keeps 11 significant bits of an operand. So x is split exactly into big + small / 2^11, where big is x
/// rounded to 11 bits, and x y becomes big big + (big small + small big) / 2^11. The neglected terms, small small /
/// 2^22 and the last bit of small, are below 2^-21 |x y|: a few roundings of a float product. `small` is kept scaled by
/// 2^11, with a separate sum, because it would otherwise underflow for x below 1e-31.
///
/// The tensor core also truncates its sums instead of rounding them, and a truncated sum over all of k would drift. So
/// it sums only 8 k at a time, and a rounded float addition adds the result to the accumulator.
///
/// Splitting an infinity, or a float next to the overflow threshold, yields NaN or infinity where a plain product might
/// not. An element of C that is not finite is therefore recomputed by plain fused multiply-adds. This is slow but rare.
template <class BlockShape>
struct FloatMath {
  using Value = float;
  using Tiles = BlockShape;
  static constexpr int depth = 16, stages = 3;
  static constexpr bool retry_nonfinite = true;
  static constexpr float scale = 2048;

  struct Columns {
    float big[Tiles::frags_n][2], small[Tiles::frags_n][2];
    __device__ explicit Columns(const float (&b)[Tiles::frags_n][2]) {
#pragma unroll
      for (int ni = 0; ni < Tiles::frags_n; ++ni) {
#pragma unroll
        for (int e = 0; e < 2; ++e) split(b[ni][e], big[ni][e], small[ni][e]);
      }
    }
  };

  __device__ static void multiply(float (&c)[Tiles::frags_n][4], const float (&a)[4], const Columns& b) {
    float big[4], small[4], sum[Tiles::frags_n][4] = {}, small_sum[Tiles::frags_n][4] = {};
#pragma unroll
    for (int e = 0; e < 4; ++e) split(a[e], big[e], small[e]);
      // Interleaves the products of the fragments: consecutive instructions do not wait for each other's sums.
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(small_sum[ni], small, b.big[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(sum[ni], big, b.big[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(small_sum[ni], big, b.small[ni]);
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) {
#pragma unroll
      for (int e = 0; e < 4; ++e) c[ni][e] += fmaf(small_sum[ni][e], 1 / scale, sum[ni][e]);
    }
  }

 private:
  __device__ static void split(float x, float& big, float& small) {
    big = __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);  // rounds the 13 bits to drop
    small = (x - big) * scale;
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

}  // namespace tuned

template <>
int gemm_tuned<float>(CUstream_st* stream, const GemmProblem<float>& problem) {
  return tuned::gemm<tuned::FloatMath>(stream, problem);
}

}  // namespace tesela::kernels
