#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Factors a symmetric tile whose upper triangle is A's, A = R^T R (LAPACK potrf).
///
/// A        becomes R in the upper triangle, zeros below. Invalid if `minor` is positive, also on entry.
/// minor    1 x 1; becomes the order of the first leading minor of the matrix that is not positive or not finite. The
///          tile's first row is row `first` of the matrix.
template <class T>
struct Potrf {
  static constexpr auto name = "potrf";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t first = 0;
  };
  static double flops(const Args&, Shape a, Shape) {
    const auto n = static_cast<double>(a.rows);
    return n * n * n / 3;
  }
  static void cpu(const Args& args, InOut<T> a, InOut<double> minor);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> minor);
};

}  // namespace tesela::kernels
