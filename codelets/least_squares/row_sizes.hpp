#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// sizes(i, 0) = the largest magnitude in row i of A, 0 without columns; NaN where there is one.
template <class T>
struct RowSizes {
  static constexpr auto name = "row_sizes";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static double flops(const Args&, Shape a, Shape) { return static_cast<double>(a.rows) * static_cast<double>(a.cols); }
  static void cpu(const Args& args, In<T> a, Out<double> sizes);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<double> sizes);
};

}  // namespace tesela::kernels
