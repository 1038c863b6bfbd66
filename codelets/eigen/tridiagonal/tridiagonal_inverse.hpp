#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Inverse iteration for eigenvectors of an unreduced symmetric tridiagonal matrix T with entries of size at most 1. A
// tile of T is n x 2: diagonal and, from row 0 on, off-diagonal.

/// Columns of work space per step: pivots, two diagonals of U and the right-hand side for a group of columns.
template <class T>
inline constexpr index_t inverse_step_columns = 4 * 64 / static_cast<index_t>(sizeof(T));

/// One step: column j of x becomes (T - shifts(j) I)^-1 x(:, j), scaled to norm 1. Gaussian elimination exchanges
/// adjacent rows (LAPACK gttrf); a vector lane is a column. A zero pivot becomes eps^2, so a shift may be an
/// eigenvalue.
///
/// work     n x inverse_step_columns<T>.
/// info     if args.last, 1 + the first column whose solution is not large: its shift is not near an eigenvalue.
template <class T>
struct InverseStep {
  static constexpr auto name = "inverse_step";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    bool last = false;
  };
  static double flops(const Args&, Shape t, Shape shifts, Shape, Shape, Shape) {
    return 16 * static_cast<double>(t.rows) * static_cast<double>(shifts.rows);
  }
  static void cpu(const Args& args, In<T> t, In<T> shifts, InOut<T> x, Scratch<T> work, InOut<int> info);
};

/// Makes the columns of each cluster orthonormal, from left to right (LAPACK geqrf, orgqr): first(j) is the first
/// column of column j's cluster.
template <class T>
struct OrthonormalizeClusters {
  static constexpr auto name = "orthonormalize_clusters";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {};
  static double flops(const Args&, Shape, Shape x) {
    return 4 * static_cast<double>(x.rows) * static_cast<double>(x.cols) * static_cast<double>(x.cols);
  }
  static void cpu(const Args& args, In<index_t> first, InOut<T> x);
};

}  // namespace tesela::kernels
