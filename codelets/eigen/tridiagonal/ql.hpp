#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Implicit QL steps on a symmetric tridiagonal matrix of any order. The rotations are recorded, and separate tasks
// apply them to the vectors.

/// Performs QL sweeps until T is diagonal or `rotations` is full. A capacity below n records no rotations, and the
/// sweeps continue to the end.
///
/// T         n x 2: diagonal and, from row 0 on, off-diagonal; entries of size at most 2.
/// progress  3 x 1, initially zeros: the present eigenvalue, its sweeps, and all sweeps up to here.
/// rotations capacity x 2: c and s.
/// sweeps    2 x columns: the number of recorded sweeps and whether T is diagonal; then the first and the last row of
///           each sweep.
/// info      1 + the eigenvalue that did not converge.
template <class T>
struct QlSweeps {
  static constexpr auto name = "ql_sweeps";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static void cpu(const Args& args, InOut<T> t, InOut<index_t> progress, Out<T> rotations, Out<index_t> sweeps,
                  InOut<int> info);
};

/// Applies the recorded rotations to all columns of some rows of the vectors.
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
