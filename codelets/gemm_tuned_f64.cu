#include "codelets/gemm_tuned.cuh"

namespace tesela::kernels {
namespace {

#ifndef PANELS
#define PANELS 2
#endif
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 64
#endif
#ifndef WN
#define WN 32
#endif
#ifndef WM
#define WM 64
#endif
#ifndef DEPTH
#define DEPTH 16
#endif
#ifndef STAGES
#define STAGES 3
#endif
/// Double on the FP64 tensor cores: every product and sum is an IEEE fused multiply-add.
struct DoubleMath {
  using Value = double;
  static constexpr bool retry_nonfinite = false;
  using Tiles = tuned::BlockTiles<BM, BN, WM, WN>;
  static constexpr int depth = DEPTH, stages = STAGES, panels = PANELS;

  struct Columns {
    double b[Tiles::frags_n][panels][2];
    __device__ explicit Columns(const double (&fragments)[Tiles::frags_n][panels][2]) {
#pragma unroll
      for (int ni = 0; ni < Tiles::frags_n; ++ni) {
#pragma unroll
        for (int q = 0; q < 2 * panels; ++q) b[ni][q / 2][q % 2] = fragments[ni][q / 2][q % 2];
      }
    }
  };

  __device__ static void multiply(double (&c)[Tiles::frags_n][4], const double (&a)[panels][4],
                                  const Columns& columns) {
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(c[ni], a, columns.b[ni]);
  }

 private:
  __device__ static void step(double (&c)[4], const double (&a)[panels][4], const double (&b)[panels][2]) {
#if __CUDA_ARCH__ >= 900
#if PANELS == 1
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[0][2]), "d"(a[0][3]), "d"(b[0][0]), "d"(b[0][1]));
#else
    // One m16n8k16 is twice the m16n8k8 of the skeleton, and costs fewer issue slots.
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
        "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[0][2]), "d"(a[0][3]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[1][2]),
          "d"(a[1][3]), "d"(b[0][0]), "d"(b[0][1]), "d"(b[1][0]), "d"(b[1][1]));
#endif
#elif __CUDA_ARCH__ >= 800
    // sm_80 has only m8n8k4: the same fragments, an eighth at a time.
    for (int k = 0; k < 4; ++k) {
      for (int half = 0; half < 2; ++half) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
            : "d"(a[k / 2][half + 2 * (k % 2)]), "d"(b[k / 2][k % 2]));
      }
    }
#endif
  }
};

}  // namespace

template <>
int gemm_tuned<double>(CUstream_st* stream, const GemmProblem<double>& problem) {
  return tuned::gemm<DoubleMath>(stream, problem);
}

}  // namespace tesela::kernels
