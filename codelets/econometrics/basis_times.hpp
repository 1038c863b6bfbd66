#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

// The bases Q_i of some equations, and vectors with a part for each: x and y have the columns of Q_1, those of Q_2 ...
// as rows, w and v a column for each equation. Where a Q_i has fewer rows than these, zeros stand below it.

/// w_i = Q_i x_i.
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

/// y_i = Q_i^T v_i.
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

}  // namespace tesela::kernels
