#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Updates the next diagonal block of a Cholesky factorization A = R^T R without the tiles to its right.
///
/// a        row k; S = R(k, k)^-T a for the columns from `column` on that belong to the next diagonal block.
/// next     the block of `below` (row k + 1) from `column` on, minus S^T S.
/// V        the inverses of R(k, k)'s diagonal blocks, as in BlockTrsm. The work spaces have R(k, k)'s rows and
///          inverted_block rows.
template <class T>
struct CholeskyNextDiagonal {
  static constexpr auto name = "cholesky_link";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    index_t column = 0;
  };
  static double flops(const Args&, Shape r, Shape, Shape, Shape, Shape next, Shape, Shape) {
    const auto n = static_cast<double>(r.rows), w = static_cast<double>(next.rows);
    return n * w * (n + w);
  }
  static void cpu(const Args& args, In<T> r, In<T> v, In<T> a, In<T> below, Out<T> next, Scratch<T> s, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, In<T> a, In<T> below, Out<T> next,
                   Scratch<T> s, Scratch<T> work);
};

}  // namespace tesela::kernels
