#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// A = R^T R for the symmetric tile whose upper triangle is A's (LAPACK potrf): R in the upper triangle, zeros below.
/// `minor` (1 x 1) becomes the order of the leading minor that is not positive (or not finite), this tile's first row
/// being row `first` of the matrix. Then, and where it is more than zero before, A's contents are of no use.
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
