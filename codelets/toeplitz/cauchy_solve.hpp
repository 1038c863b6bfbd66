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

}  // namespace tesela::kernels
