#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// Sets sizes(i, 0) to the largest magnitude in row i of tiles A_k of the same height; NaN if the row has one.
template <class T>
struct RowSizes {
  static constexpr auto name = "row_sizes";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static double flops(const Args&, std::span<const Shape> all) {
    double elements = 0;
    for (const Shape& a : all.subspan(1)) elements += static_cast<double>(a.rows) * static_cast<double>(a.cols);
    return elements;
  }
  static void cpu(const Args& args, Out<double> sizes, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, Out<double> sizes, std::span<const In<T>> a);
};

}  // namespace tesela::kernels
