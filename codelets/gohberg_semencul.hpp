#pragma once

#include "codelets/toeplitz.hpp"

namespace tesela {

// (T - sigma I)^-1 from its first column x, by Gohberg and Semencul's formula (1972), with L(c) the lower triangular
// Toeplitz matrix whose first column is c:
//   x(0) (T - sigma I)^-1 = L(x) L(x)^T - L(w) L(w)^T,  w = (0, x(n - 1), ..., x(1)).
// It needs x(0) != 0, which is the ratio of the two last leading minors.

/// generator = the transforms of x and of w, toeplitz_rows(N) x 2; x is n x 1 (Durbin's inverse).
template <class T>
struct GohbergSemenculGenerator {
  static constexpr auto name = "gohberg_semencul_generator";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, In<T> x, Out<T> generator) noexcept;
  static void cuda(CudaContext& context, const Args& args, In<T> x, Out<T> generator) noexcept;
};

/// B = (T - sigma I)^-1 B, n x k, by the formula and steps of iterative refinement, whose residuals are products by
/// ToeplitzMultiply's transforms; a step's result is kept in the columns where it made the residual smaller. A core
/// stops once no column improves, a GPU takes every step.
///
/// `report` is Durbin's: B becomes zero where that broke down. outcome, k x 4, has each column's
/// ||(T - sigma I) x - b|| / (norm ||x|| + ||b||) in its first column. info becomes Durbin's order of breakdown, else
/// n + 1 + j where column j is the first that did not reach `tolerance`, else stays. work is toeplitz_rows(N) x 6 k.
template <class T>
struct GohbergSemenculSolve {
  static constexpr auto name = "gohberg_semencul_solve";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    T sigma = 0;
    double norm = 0;  ///< of T - sigma I, estimated
    int steps = 3;    ///< of refinement, at most
    double tolerance = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(steps); }
  };
  static void cpu(const Args& args, In<T> spectrum, In<T> x, In<T> generator, In<double> report, InOut<T> b,
                  Out<double> outcome, InOut<int> info, Scratch<T> work) noexcept;
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> x, In<T> generator, In<double> report,
                   InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work) noexcept;
};

}  // namespace tesela
