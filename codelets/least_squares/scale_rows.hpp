#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Scales rows: A = diag(d) A. A row with d = 0 becomes zero, even if it was not finite. d has as many elements as A
/// has rows.
template <class T>
struct ScaleRows {
  static constexpr auto name = "scale_rows";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static double flops(const Args&, Shape, Shape a) { return static_cast<double>(a.rows) * static_cast<double>(a.cols); }
  static void cpu(const Args& args, In<T> d, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, In<T> d, InOut<T> a);
};

}  // namespace tesela::kernels
