#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Solves x_i <- R_i^-1 x_i for upper triangles side by side, r = [R_1 R_2 ...], each n x n; x has n rows and one
/// column per triangle. The strict lower triangles are not read.
struct BasisSolve {
  static constexpr auto name = "basis_solve";
  static constexpr std::uint32_t color = 0xf7b6d2;
  struct Args {};
  static double flops(const Args&, Shape r, Shape) { return static_cast<double>(r.rows) * static_cast<double>(r.cols); }
  static void cpu(const Args& args, In<double> r, InOut<double> x);
  static void cuda(CudaContext& context, const Args& args, In<double> r, InOut<double> x);
};

}  // namespace tesela::kernels
