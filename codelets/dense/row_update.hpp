#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Updates C -= S^T B, or C -= S B, with rows A of R in a Cholesky factorization A = R^T R.
///
/// A        its tiles may have more columns than rows. S are A's columns from `a_column` on, as many as the product
///          needs.
/// B, C     take part from `column` on.
template <class T>
struct RowUpdate {
  static constexpr auto name = "row_update";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    Op op = Op::transpose;
    index_t a_column = 0, column = 0;
    bool symmetric = false;  ///< S^T B is symmetric, C square: its strict lower triangle may stay
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(op) | (symmetric ? 2u : 0u); }
  };
  static double flops(const Args& args, Shape a, Shape b, Shape c) {
    const double whole = 2.0 * static_cast<double>(c.rows) * static_cast<double>(c.cols - args.column) *
                         static_cast<double>(args.op == Op::transpose ? a.rows : b.rows);
    return args.symmetric ? whole / 2 : whole;
  }
  static void cpu(const Args& args, In<T> a, In<T> b, InOut<T> c);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, InOut<T> c);
};

}  // namespace tesela::kernels
