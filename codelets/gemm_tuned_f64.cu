#include "codelets/gemm_tuned.cuh"

namespace tesela::kernels {
namespace {

#ifndef DEPTH
#define DEPTH 16
#endif
#ifndef STAGES
#define STAGES 4
#endif
/// Double on the FP64 tensor cores: every product and sum is an IEEE fused multiply-add.
struct DoubleMath {
  using Value = double;
  static constexpr int depth = DEPTH, stages = STAGES, panels = 2;

  struct Columns {
    const double (&b)[tuned::frags_n][panels][2];
    __device__ explicit Columns(const double (&fragments)[tuned::frags_n][panels][2]) : b(fragments) {}
  };

  __device__ static void multiply(double (&c)[tuned::frags_n][4], const double (&a)[panels][4],
                                  const Columns& columns) {
#pragma unroll
    for (int ni = 0; ni < tuned::frags_n; ++ni) step(c[ni], a, columns.b[ni]);
  }

 private:
  __device__ static void step(double (&c)[4], const double (&a)[panels][4], const double (&b)[panels][2]) {
#if __CUDA_ARCH__ >= 900
    // One m16n8k16 is twice the m16n8k8 of the skeleton, and costs fewer issue slots.
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
        "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[0][2]), "d"(a[0][3]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[1][2]),
          "d"(a[1][3]), "d"(b[0][0]), "d"(b[0][1]), "d"(b[1][0]), "d"(b[1][1]));
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
