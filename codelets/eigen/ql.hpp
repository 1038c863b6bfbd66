#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Implicit QL steps on a symmetric tridiagonal matrix of any order, its vectors' rotations recorded and applied by
// tasks of their own.

/// QL sweeps until all of T (n x 2: diagonal and, from row 0 on, off-diagonal, entries at most 2 in size) is diagonal,
/// or until `rotations` (capacity x 2: c and s) cannot take another sweep; a capacity below n records none and goes on
/// to the end. `progress` (3 x 1, at first zeros): the eigenvalue that it is at, its sweeps so far, all sweeps.
/// `sweeps` (2 x columns): how many were recorded, and whether T is diagonal; then of each one its first and its last
/// row. info is 1 + the eigenvalue that did not converge.
template <class T>
struct QlSweeps {
  static constexpr auto name = "ql_sweeps";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static void cpu(const Args& args, InOut<T> t, InOut<index_t> progress, Out<T> rotations, Out<index_t> sweeps,
                  InOut<int> info);
};

/// The recorded rotations applied to some rows of the vectors, all columns of them.
template <class T>
struct QlRotate {
  static constexpr auto name = "ql_rotate";
  static constexpr std::uint32_t color = 0xb07aa1;
  struct Args {};
  static double flops(const Args&, Shape rotations, Shape, Shape x) {
    return 6 * static_cast<double>(rotations.rows) * static_cast<double>(x.rows);
  }
  static void cpu(const Args& args, In<T> rotations, In<index_t> sweeps, InOut<T> x);
};

}  // namespace tesela::kernels
