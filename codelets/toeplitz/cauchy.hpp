#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

namespace tesela::kernels {

// A symmetric Toeplitz matrix T of order n in the sine basis. With s_ij = sqrt(2 / (n + 1)) sin(i j pi / (n + 1)), the
// rows of C = S T S whose number (from 1) is odd and those whose number is even have nothing in common: C is two
// blocks, the first of order ceil(n / 2) for the symmetric vectors (J x = x), the second for the skew ones (J x = -x).
// All vectors in that basis stand in this order: n numbers, the symmetric part's first. In a block,
//
//   c_ab = (g_a h_b - h_a g_b) w(a + b + o) w(a - b),  a != b = 0, 1, ...,   w(k) = 1 / sin(k pi / (n + 1)),
//
// o = 1 in the first and 2 in the second, and the diagonal is kept apart. So three columns, g, h and the diagonal,
// hold C (G. Heinig, Inversion of generalized Cauchy matrices and other classes of structured matrices, 1995;
// I. Gohberg, T. Kailath, V. Olshevsky, Math. Comp. 64, 1995). C^-1 and (C - sigma I)^-1 have the same form.

/// How many rows the first (part 0) or second (part 1) block has.
TESELA_BOTH constexpr index_t cauchy_rows(index_t n, int part) { return part == 0 ? n - n / 2 : n / 2; }

/// How many elements the GPU's variants need for w(k) at every k where they read it.
constexpr index_t cauchy_table(index_t n) { return 2 * n + 1100; }

/// About how many shifts of CauchyInvert or CauchyCount fill a large GPU (measured on 132 multiprocessors); a few more
/// take twice the time.
constexpr index_t cauchy_batch(index_t n) {
  const index_t fit = 121 * 8192 / (n > 0 ? n : 1);
  return fit < 1 ? 1 : fit > 256 ? 256 : fit;
}

/// Vectors, or Lanczos runs, that one task takes side by side at most: a launch's arguments hold their addresses.
inline constexpr int most_side_by_side = 64;

/// What an elimination saw: one column for each block of each shift.
struct CauchyReport {
  static constexpr index_t rows = 4;
  enum Row : std::uint8_t {
    negative,        ///< pivots below zero: eigenvalues of the block below the shift
    breakdown,       ///< 0, or the number of pivots after which every remaining diagonal entry was zero or one was not
                     ///< finite; the rest means nothing then
    smallest_pivot,  ///< in absolute value
    largest          ///< diagonal entry seen, in absolute value
  };
};

/// (C - sigma_s I)^-1 for every entry of `sigma` (s x 1): columns 3 s, 3 s + 1 and 3 s + 2 of `inverse` (n x 3 s) are
/// its g, h and diagonal. By sweeping all rows with one pivot after the other (Gauss-Jordan's method on the generators,
/// n steps of n numbers each; every step leaves a matrix of the same form), the pivot each time the largest diagonal
/// entry that is left, or on GPUs one that is hardly smaller. `report` is CauchyReport::rows x 2 s; `table` is
/// cauchy_table(n) x 1. GPUs take n up to 262144, those before compute capability 9.0 up to 16384.
template <class T>
struct CauchyInvert {
  static constexpr auto name = "cauchy_invert";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {};
  static double flops(const Args&, Shape c, Shape sigma, Shape, Shape, Shape) {
    return 5.5 * static_cast<double>(c.rows) * static_cast<double>(c.rows * sigma.rows);
  }
  static void cpu(const Args& args, In<T> c, In<double> sigma, Out<T> inverse, Out<double> report, Scratch<T> table);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<double> sigma, Out<T> inverse,
                   Out<double> report, Scratch<T> table);
};

/// As CauchyInvert, of which it keeps the report only.
template <class T>
struct CauchyCount {
  static constexpr auto name = "cauchy_count";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {};
  static double flops(const Args&, Shape c, Shape sigma, Shape, Shape) {
    return 5.5 * static_cast<double>(c.rows) * static_cast<double>(c.rows * sigma.rows);
  }
  static void cpu(const Args& args, In<T> c, In<double> sigma, Out<double> report, Scratch<T> table);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<double> sigma, Out<double> report,
                   Scratch<T> table);
};

}  // namespace tesela::kernels
