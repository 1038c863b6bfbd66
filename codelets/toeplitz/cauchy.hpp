#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>

namespace tesela::kernels {

// A symmetric Toeplitz matrix T of order n in the sine basis. With s_ij = sqrt(2 / (n + 1)) sin(i j pi / (n + 1)), C =
// S T S has no entries between rows of odd and rows of even number (from 1). So C consists of two blocks, the first of
// order ceil(n / 2) for the symmetric vectors (J x = x), the second for the skew ones (J x = -x). All vectors in that
// basis have this order: n numbers, the symmetric part first. In a block,
//
//   c_ab = (g_a h_b - h_a g_b) w(a + b + o) w(a - b),  a != b = 0, 1, ...,   w(k) = 1 / sin(k pi / (n + 1)),
//
// with o = 1 in the first and o = 2 in the second block; the diagonal is stored separately. So three columns, g, h and
// the diagonal, hold C (G. Heinig, Inversion of generalized Cauchy matrices and other classes of structured matrices,
// 1995; I. Gohberg, T. Kailath, V. Olshevsky, Math. Comp. 64, 1995). C^-1 and (C - sigma I)^-1 have the same form.

/// Returns the rows of the first (part 0) or second (part 1) block.
TESELA_BOTH constexpr index_t cauchy_rows(index_t n, int part) { return part == 0 ? n - n / 2 : n / 2; }

/// Returns the elements that the GPU variants need to store w(k) for every k that they read.
constexpr index_t cauchy_table(index_t n) { return 2 * n + 1100; }

/// Returns about the number of shifts of CauchyInvert or CauchyCount that fill a large GPU (measured on 132
/// multiprocessors); a few more need twice the time.
constexpr index_t cauchy_batch(index_t n) {
  const index_t fit = 121 * 8192 / (n > 0 ? n : 1);
  return fit < 1 ? 1 : fit > 256 ? 256 : fit;
}

/// Most vectors, or Lanczos runs, of one task: a launch's arguments hold their addresses.
inline constexpr int most_side_by_side = 64;

/// Report of an elimination: one column for each block of each shift.
struct CauchyReport {
  static constexpr index_t rows = 4;  ///< number of rows
  /// Rows of a column.
  enum Row : std::uint8_t {
    negative,        ///< pivots below zero: eigenvalues of the block below the shift
    breakdown,       ///< 0, or the number of pivots after which every remaining diagonal entry was zero or one was not
                     ///< finite; the other rows are invalid then
    smallest_pivot,  ///< in absolute value
    largest          ///< largest diagonal entry, in absolute value
  };
};

/// Computes (C - sigma_s I)^-1 for every entry of `sigma` (s x 1).
///
/// inverse  n x 3 s: columns 3 s, 3 s + 1 and 3 s + 2 become its g, h and diagonal.
/// report   CauchyReport::rows x 2 s.
/// table    cauchy_table(n) x 1.
/// Method   sweeps all rows with one pivot after the other (Gauss-Jordan's method on the generators, n steps of n
///          numbers each; every step leaves a matrix of the same form). Each pivot is the largest remaining diagonal
///          entry, or on GPUs one of nearly this size. GPUs accept n up to 262144, or up to 16384 before compute
///          capability 9.0.
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

/// Does the same as CauchyInvert, but keeps only the report.
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

/// Does the same as CauchyCount for one block and one shift, on a core: two cores share a shift. The report has one
/// column.
template <class T>
struct CauchyCountPart {
  static constexpr auto name = "cauchy_count_part";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    int part = 0;  ///< block: 0 symmetric, 1 skew
  };
  static double flops(const Args&, Shape c, Shape, Shape) {
    return 2.75 * static_cast<double>(c.rows) * static_cast<double>(c.rows);
  }
  static void cpu(const Args& args, In<T> c, In<double> sigma, Out<double> report);
};

}  // namespace tesela::kernels
