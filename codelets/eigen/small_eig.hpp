#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Computes all eigenpairs of several symmetric or Hermitian matrices of one order n <= 128. Each is scaled by a power
/// of two, made tridiagonal by Householder reflectors, and solved by implicit QL steps (LAPACK steqr). Complex matrices
/// go to LAPACK's heevd, one after the other; imaginary parts of their diagonals are not read.
///
/// a        n x (k n): k matrices side by side, of which only the lower triangles are read. With vectors, column j of a
///          matrix becomes the unit eigenvector of value j, its largest component real and positive (the first of
///          equals); otherwise `a` is unchanged.
/// values   n x k, ascending; NaN for a matrix that fails.
/// info     1 x k: 0; 1 + the row where a matrix did not converge; or -(1 + i + j n) if its element (i, j) is NaN or
///          infinite. A matrix that fails stays in `a` and does not affect the others.
template <class T>
struct SmallEig {
  static constexpr auto name = "small_eig";
  static constexpr std::uint32_t color = 0x4c72b0;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    bool vectors = true;
    auto cost_key() const { return vectors ? 1 : 0; }
  };
  static double flops(const Args& args, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(a.rows), all = static_cast<double>(a.cols) * n * n;
    return args.vectors ? 9 * all : 4.0 / 3 * all + 30 * all / (n > 0 ? n : 1);  // LAPACK's count for QL
  }
  static void cpu(const Args& args, InOut<T> a, Out<real_t<T>> values, Out<int> info);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<real_t<T>> values, Out<int> info);
};

}  // namespace tesela::kernels
