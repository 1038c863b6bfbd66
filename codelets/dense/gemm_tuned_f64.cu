#include <tesela/codelets/dense/gemm_launch.hpp>
#include <tesela/codelets/dense/internal/gemm_tuned.cuh>
#include <tesela/codelets/support/internal/mma_f64.cuh>

namespace tesela::kernels {
namespace tuned {

/// Multiplies doubles on the FP64 tensor cores: every product and sum is an IEEE fused multiply-add.
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

  // Steps of 16 x 8 x 8: steps of 16 x 8 x 16 run at the same rate but leave no registers for reading ahead.
  __device__ static void multiply(double (&c)[Tiles::frags_n][4], const double (&a)[4], const Columns& columns) {
#pragma unroll
    for (int ni = 0; ni < Tiles::frags_n; ++ni) multiply_add(c[ni], a, columns.b[ni]);
  }
};

}  // namespace tuned

template <>
int gemm_tuned<double>(CUstream_st* stream, const GemmProblem<double>& problem) {
  const int status = gemm_bulk(stream, problem);
  return status != gemm_bulk_declines ? status : tuned::gemm<tuned::DoubleMath>(stream, problem);
}

}  // namespace tesela::kernels
