#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// From one factored diagonal block of a Cholesky factorization A = R^T R to the next, without what stands beside them:
/// with the square of `a`, row k, from `column` on, S = R(k, k)^-T a; next = the square of `below`, row k + 1, from
/// `column` on, less S^T S. V as in BlockTrsm. The work spaces have R(k, k)'s rows, and inverted_block.
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
