#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// Rows of the strips by which RowGram skips entries below the diagonal.
inline constexpr index_t gram_strip = 2048;

/// Computes C(:, column:) = sum_k S_k Z_k^T for tiles A_k that stand side by side.
///
/// A_k      S_k are its rows from `row` on (C's rows), and Z_k its rows from `other_row` on (C's columns from `column`
///          on).
/// C        columns before `column` become zero, and so do, by whole strips, entries below the diagonal of
///          sum_k A_k A_k^T.
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
    double elements = 0;
    for_each_strip(args, all[0], [&](index_t, index_t rows, index_t, index_t columns) {
      elements += static_cast<double>(rows) * static_cast<double>(columns);
    });
    return 2 * elements * inner;
  }
  /// Calls f(row, rows, column, columns) for each part of C that is computed.
  template <class F>
  static void for_each_strip(const Args& args, Shape c, const F& f) {
    for (index_t i = 0; i < c.rows; i += gram_strip) {
      const index_t below = args.row + i - args.other_row, column = args.column + (below > 0 ? below : 0);
      if (column < c.cols) f(i, c.rows - i < gram_strip ? c.rows - i : gram_strip, column, c.cols - column);
    }
  }
  static void cpu(const Args& args, Out<T> c, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, Out<T> c, std::span<const In<T>> a);
};

}  // namespace tesela::kernels
