#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// Sets sizes(i, 0) to the largest magnitude in row i of tiles A_k of the same height, for complex numbers of their
/// parts; NaN if the row has one.
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

/// Scales rows: A = diag(d) A. A row with d = 0 becomes zero, even if it was not finite. d is real and has as many
/// elements as A has rows.
template <class T>
struct ScaleRows {
  static constexpr auto name = "scale_rows";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static double flops(const Args&, Shape, Shape a) { return static_cast<double>(a.rows) * static_cast<double>(a.cols); }
  static void cpu(const Args& args, In<real_t<T>> d, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, In<real_t<T>> d, InOut<T> a);
};

/// Computes d = sqrt(w) row by row, and statistics of w. T is real.
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
