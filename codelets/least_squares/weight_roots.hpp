#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Computes d = sqrt(w) row by row, and statistics of w.
///
/// ranges   3 x c. Column k has, for some rows, the largest weight, the smallest positive weight (infinity if there is
///          none), and the number of positive weights. The first is NaN if a weight is negative or not finite. Each row
///          belongs to one column.
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
