#include "codelets/gemm_tuned.cuh"

namespace tesela::kernels {
namespace {

/// Double on the FP64 tensor cores: every product and sum is an IEEE fused multiply-add.
struct DoubleMath {
  using Value = double;
  #ifndef SETS
#define SETS 2
#endif
#ifndef DEPTH
#define DEPTH 16
#endif
#ifndef STAGES
#define STAGES 4
#endif
  static constexpr int depth = DEPTH, stages = STAGES, fragment_sets = SETS;
  struct Accumulators {
    double value[tuned::frags_m][tuned::frags_n][4];
  };

  __device__ static void multiply(Accumulators& acc, const tuned::Fragments<double>& f) {
#pragma unroll
    for (int mi = 0; mi < tuned::frags_m; ++mi) {
#pragma unroll
      for (int ni = 0; ni < tuned::frags_n; ++ni) step(acc.value[mi][ni], f.a[mi], f.b[ni]);
    }
  }

 private:
  __device__ static void step(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
    // sm_80 has only m8n8k4: the same fragments, a quarter at a time.
    for (int k = 0; k < 2; ++k) {
      for (int half = 0; half < 2; ++half) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
            : "d"(a[half + 2 * k]), "d"(b[k]));
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
