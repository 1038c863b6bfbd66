#pragma once

#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

namespace tesela::kernels {

// Solvers of (T - sigma I) X = B whose approximate inverse is known in the sine basis (see cauchy.hpp).

/// Additional arguments of these solvers.
template <class T>
struct CauchySolveArgs : RefinedSolveArgs<T> {
  double least = 0;  ///< pivots of at most this magnitude mean that sigma is an eigenvalue
};

/// Solves B = (T - sigma I)^-1 B by CauchyInvert's `inverse` and iterative refinement.
///
/// args, b, outcome see RefinedSolveArgs.
/// info             see RefinedSolveArgs. A breakdown of the inverse has the order i <= ceil(n / 2) in the first block,
///                  an order i > ceil(n / 2) in the second (row i - ceil(n / 2)), or, if a pivot was too small, that
///                  block's last order.
/// work             cauchy_solve_work(n, k).
template <class T>
struct CauchyInverseSolve {
  static constexpr auto name = "cauchy_inverse_solve";
  static constexpr std::uint32_t color = 0x55a868;
  using Args = CauchySolveArgs<T>;
  static void cpu(const Args& args, In<T> spectrum, In<T> tables, In<T> inverse, In<double> report, InOut<T> b,
                  Out<double> outcome, InOut<int> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> tables, In<T> inverse,
                   In<double> report, InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work);
};

/// Returns the shape of the Scratch of these kernels for k right-hand sides.
Shape cauchy_solve_work(index_t n, index_t k);

/// Factors the first (part 0) or second block of C - sigma I (see cauchy.hpp) as P^T L D L^T P, with L unit lower
/// triangular and P a permutation.
///
/// factors  cauchy_factors(n, part): L, then D, then the pivot row of each step, one column each.
/// report   CauchyReport::rows x 1.
/// work     cauchy_factor_work(n) on a GPU.
/// Method   works on the block's generators, with the diagonal stored separately: r steps of r numbers for r rows. The
///          pivot is a largest remaining diagonal entry.
template <class T>
struct CauchyFactor {
  static constexpr auto name = "cauchy_factor";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    double sigma = 0;
    int part = 0;
  };
  static double flops(const Args&, Shape, Shape factors, Shape, Shape) {
    return 11 * static_cast<double>(factors.rows) * static_cast<double>(factors.rows);
  }
  static void cpu(const Args& args, In<T> c, Out<T> factors, Out<double> report, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> c, Out<T> factors, Out<double> report,
                   Scratch<T> work);
};

/// Returns the shape of the factors. A block without rows has a tile of one row, which is not used.
constexpr Shape cauchy_factors(index_t n, int part) {
  const index_t rows = cauchy_rows(n, part) > 0 ? cauchy_rows(n, part) : 1;
  return {rows, rows + 2};
}
constexpr Shape cauchy_factor_work(index_t n) { return {n + 1, 68}; }

/// Solves B = (T - sigma I)^-1 B by both blocks' factors (two triangular solves and a scaling each, by BLAS and cuBLAS)
/// and iterative refinement, as CauchyInverseSolve.
template <class T>
struct CauchyFactoredSolve {
  static constexpr auto name = "cauchy_factored_solve";
  static constexpr std::uint32_t color = 0x55a868;
  using Args = CauchySolveArgs<T>;
  static double flops(const Args&, Shape, Shape first, Shape, Shape, Shape, Shape b, Shape, Shape, Shape) {
    return 4 * static_cast<double>(first.rows) * static_cast<double>(first.rows) * static_cast<double>(b.cols);
  }
  static void cpu(const Args& args, In<T> spectrum, In<T> factors_0, In<T> factors_1, In<double> report_0,
                  In<double> report_1, InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> factors_0, In<T> factors_1,
                   In<double> report_0, In<double> report_1, InOut<T> b, Out<double> outcome, InOut<int> info,
                   Scratch<T> work);
};

}  // namespace tesela::kernels
