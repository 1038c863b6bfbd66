#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// C(:, column:) = sum_k S_k Z_k^T for tiles A_k that stand side by side: S_k are A_k's rows from `row` on, as many as
/// C has, Z_k those from `other_row` on, as many as C's columns from `column` on. What stands before them in C becomes
/// zero.
template <class T>
struct RowGram {
  static constexpr auto name = "row_gram";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t row = 0, other_row = 0, column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(column); }
  };
  static double flops(const Args& args, std::span<const Shape> all) {
    double inner = 0;
    for (const Shape& a : all.subspan(1)) inner += static_cast<double>(a.cols);
    return 2 * static_cast<double>(all[0].rows) * static_cast<double>(all[0].cols - args.column) * inner;
  }
  static void cpu(const Args& args, Out<T> c, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, Out<T> c, std::span<const In<T>> a);
};

}  // namespace tesela::kernels
