#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

// Products with the bases Q_i of some equations. x and y have one row per column of Q_1, then of Q_2 ...; w and v have
// one column per equation. A Q_i with fewer rows than w counts as padded with zeros.

/// Computes w_i = Q_i x_i.
struct BasisTimes {
  static constexpr auto name = "basis_times";
  static constexpr std::uint32_t color = 0xaec7e8;
  struct Args {};
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 2 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[1].rows);
  }
  static void cpu(const Args& args, In<double> x, Out<double> w, std::span<const In<double>> q);
  static void cuda(CudaContext& context, const Args& args, In<double> x, Out<double> w, std::span<const In<double>> q);
};

/// Computes y_i = Q_i^T v_i.
struct BasisTransposedTimes {
  static constexpr auto name = "basis_transposed_times";
  static constexpr std::uint32_t color = 0xffbb78;
  struct Args {};
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 2 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[1].rows);
  }
  static void cpu(const Args& args, In<double> v, Out<double> y, std::span<const In<double>> q);
  static void cuda(CudaContext& context, const Args& args, In<double> v, Out<double> y, std::span<const In<double>> q);
};

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
