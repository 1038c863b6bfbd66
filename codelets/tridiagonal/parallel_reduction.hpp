#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/scalar.hpp>

namespace tesela::kernels {

/// Method for a system that all threads of a GPU's block share.
enum class ParallelReduction : std::uint8_t {
  pcr,     ///< parallel cyclic reduction: every step reduces every row, until each row has one unknown
  rd,      ///< recursive doubling: scans of 2 x 2 products for the pivots of A = L U, then of the substitutions
  cr_pcr,  ///< cyclic reduction until `cut` rows are left, which pcr solves
  cr_rd,   ///< cyclic reduction until `cut` rows are left, which rd solves
};

/// Solves B <- A^-1 B without pivoting; each column of B is a system (Y. Zhang, J. Cohen, J. D. Owens, Fast Tridiagonal
/// Solvers on the GPU, PPoPP 2010).
///
/// dl, d, du the same column belongs to the system's matrix, or their only column to all systems. dl of the first row
///           and du of the last are not read.
/// info      0; i + 1 + n s if row i of system s could not be eliminated or is not finite; n + n s if the backward
///           error of system s exceeds `bound` after four corrections, only with rd and cr-rd, whose products lose
///           digits unless A is dominant. X of that system is invalid then.
/// work      parallel_work rows and, if that exceeds parallel_in_shared, as many columns as B.
template <class T>
struct ReduceSystems {
  static constexpr auto name = "reduce_systems";
  static constexpr std::uint32_t color = 0x937860;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    ParallelReduction how = ParallelReduction::pcr;
    index_t cut = 256;  ///< rows at which cyclic reduction stops
    double bound = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(how) + 4 * static_cast<std::uint64_t>(cut); }
  };
  static double flops(const Args& args, Shape, Shape, Shape, Shape b, Shape, Shape, Shape) {
    double rows = static_cast<double>(b.rows), sum = 0;
    if (args.how == ParallelReduction::cr_pcr || args.how == ParallelReduction::cr_rd)
      for (; rows > static_cast<double>(args.cut); rows /= 2) sum += 17 * rows / 2;
    const bool doubling = args.how == ParallelReduction::rd || args.how == ParallelReduction::cr_rd;
    double steps = 0;
    for (double s = 1; s < rows; s *= 2) ++steps;
    return (sum + rows * steps * (doubling ? 20 : 12)) * static_cast<double>(b.cols);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Scratch<index_t> failure,
                  Out<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work,
                   Scratch<index_t> failure, Out<int> info);
};

/// Numbers of work space for a system of n rows, and the most numbers that a GPU keeps in shared memory.
constexpr index_t parallel_work(index_t n) { return 10 * n; }
template <class T>
constexpr index_t parallel_in_shared = 49152 / index_t{sizeof(T)};

}  // namespace tesela::kernels
