#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// LAPACK gtsv: B = A^-1 B for a tridiagonal A, with partial pivoting, on copies of the diagonals in `work` (n x 3).
/// dl, d and du are n x 1, B is n x any; dl of the first row and du of the last are not read. info = LAPACK's, or,
/// where that is 0, the first row, counted from 1, whose unknowns are not finite; B is worthless unless it is 0.
template <class T>
struct Gtsv {
  static constexpr auto name = "gtsv";
  static constexpr std::uint32_t color = 0x8172b2;
  struct Args {};
  static double flops(const Args&, Shape, Shape, Shape, Shape b, Shape, Shape) {
    return static_cast<double>(b.rows) * (3 + 5 * static_cast<double>(b.cols));
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Out<int> info);
};

}  // namespace tesela::kernels
