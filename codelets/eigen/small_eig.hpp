#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// All eigenpairs of some symmetric matrices of one order n <= 128, side by side in `a` (n x (k n)), of which the lower
/// triangles are read: each is scaled by a power of two, made tridiagonal by Householder reflectors, and solved by
/// implicit QL steps (LAPACK steqr). values (n x k) are ascending; with vectors column j of a matrix becomes the unit
/// eigenvector of value j, its largest component positive (the first of equals counts), else `a` stays. info (1 x k)
/// is 0, or 1 + the row where a matrix did not converge, or -(1 + i + j n) where its element (i, j) is NaN or infinite;
/// the values are NaN then, that matrix stays, and no other one notices.
template <class T>
struct SmallEig {
  static constexpr auto name = "small_eig";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    bool vectors = true;
    auto cost_key() const { return vectors ? 1 : 0; }
  };
  static double flops(const Args& args, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(a.rows), all = static_cast<double>(a.cols) * n * n;
    return args.vectors ? 9 * all : 4.0 / 3 * all + 30 * all / (n > 0 ? n : 1);  // as LAPACK counts them for QL
  }
  static void cpu(const Args& args, InOut<T> a, Out<T> values, Out<int> info);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> values, Out<int> info);
};

}  // namespace tesela::kernels
