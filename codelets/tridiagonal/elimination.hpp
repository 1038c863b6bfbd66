#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Solves B = A^-1 B for a tridiagonal A by elimination without pivoting (Thomas), one row after the other.
///
/// dl, d, du n x 1; dl of the first row and du of the last are not read.
/// B         n x any; invalid unless info is 0.
/// work      n x 1.
/// info      0, or the row, counted from 1, whose pivot is zero or not finite, or else the first row found whose
///           unknowns are not finite.
template <class T>
struct Thomas {
  static constexpr auto name = "thomas";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t stride = 1;  ///< this system has every stride-th row of a larger one, whose rows info counts
  };
  static double flops(const Args&, Shape, Shape, Shape, Shape b, Shape, Shape) {
    return static_cast<double>(b.rows) * (3 + 5 * static_cast<double>(b.cols));
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Out<int> info);
};

/// Solves B = A^-1 B for a tridiagonal A with partial pivoting (LAPACK gtsv).
///
/// dl, d, du n x 1, not changed; dl of the first row and du of the last are not read.
/// B         n x any; invalid unless info is 0.
/// work      n x 3, for copies of the diagonals.
/// info      LAPACK's, or, if that is 0, the first row, counted from 1, whose unknowns are not finite.
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
