#pragma once

#include <tesela/codelets/toeplitz/toeplitz.hpp>

namespace tesela::kernels {

// (T - sigma I)^-1 from its first column x, by the formula of Gohberg and Semencul (1972). L(c) is the lower triangular
// Toeplitz matrix with first column c:
//   x(0) (T - sigma I)^-1 = L(x) L(x)^T - L(w) L(w)^T,  w = (0, x(n - 1), ..., x(1)).
// It needs x(0) != 0; x(0) is the ratio of the two last leading minors.

/// Computes generator = the transforms of x and of w, toeplitz_rows(N) x 2; x is n x 1 (Durbin's inverse).
template <class T>
struct GohbergSemenculGenerator {
  static constexpr auto name = "gohberg_semencul_generator";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, In<T> x, Out<T> generator);
  static void cuda(CudaContext& context, const Args& args, In<T> x, Out<T> generator);
};

/// Solves B = (T - sigma I)^-1 B by the formula and iterative refinement: see RefinedSolveArgs for args, b, outcome and
/// info. `report` is Durbin's, work toeplitz_rows(N) x 6 k.
template <class T>
struct GohbergSemenculSolve {
  static constexpr auto name = "gohberg_semencul_solve";
  static constexpr std::uint32_t color = 0x55a868;
  using Args = RefinedSolveArgs<T>;
  static void cpu(const Args& args, In<T> spectrum, In<T> x, In<T> generator, In<double> report, InOut<T> b,
                  Out<double> outcome, InOut<int> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> x, In<T> generator, In<double> report,
                   InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work);
};

}  // namespace tesela::kernels
