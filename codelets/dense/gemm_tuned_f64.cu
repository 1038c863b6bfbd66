#include <tesela/codelets/dense/internal/gemm_bulk.hpp>
#include <tesela/codelets/dense/internal/gemm_tuned.cuh>

namespace tesela::kernels {
namespace tuned {

/// Double on the FP64 tensor cores: every product and sum is an IEEE fused multiply-add.
template <class BlockShape>
struct DoubleMath {
  using Value = double;
  using Tiles = BlockShape;
  static constexpr int depth = 16, stages = 3;
  static constexpr bool retry_nonfinite = false;

  struct Columns {
    double b[Tiles::frags_n][2];
    __device__ explicit Columns(const double (&fragments)[Tiles::frags_n][2]) {
#pragma unroll
      for (int ni = 0; ni < Tiles::frags_n; ++ni) {
        b[ni][0] = fragments[ni][0];
        b[ni][1] = fragments[ni][1];
      }
    }
  };

  __device__ static void multiply(double (&c)[Tiles::frags_n][4], const double (&a)[4], const Columns& columns) {
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) step(c[ni], a, columns.b[ni]);
  }

 private:
  __device__ static void step(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    // m8n8k4 runs at half the rate here. (m16n8k16 at the same, but its fragments leave no registers to read ahead.)
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
    // sm_80 has only m8n8k4: the same fragments, a quarter at a time.
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
            : "d"(a[half + 2 * k]), "d"(b[k]));
      }
    }
#endif
  }
};

}  // namespace tuned

template <>
int gemm_tuned<double>(CUstream_st* stream, const GemmProblem<double>& problem) {
  const int status = gemm_bulk(stream, problem);
  return status != gemm_bulk_declines ? status : tuned::gemm<tuned::DoubleMath>(stream, problem);
}

}  // namespace tesela::kernels
