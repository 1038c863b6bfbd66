#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// d = sqrt(w) row by row, and what must be known of w: column k of `ranges`, 3 x c, has the largest of some rows, the
/// smallest positive (infinity without one), and how many are positive; NaN first where a weight is negative or not
/// finite. The columns together speak for all rows, each of which is in one.
template <class T>
struct WeightRoots {
  static constexpr auto name = "weight_roots";
  static constexpr std::uint32_t color = 0x8c564b;
  struct Args {};
  static double flops(const Args&, Shape w, Shape, Shape) { return static_cast<double>(w.rows); }
  static void cpu(const Args& args, In<T> w, Out<T> d, Out<double> ranges);
  static void cuda(CudaContext& context, const Args& args, In<T> w, Out<T> d, Out<double> ranges);
};

}  // namespace tesela::kernels
