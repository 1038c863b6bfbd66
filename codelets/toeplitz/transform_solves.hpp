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

// (T - sigma I) X = B by conjugate gradients for a positive definite T - sigma I, with T. Chan's circulant matrix C as
// preconditioner: c(k) = ((n - k) t(k) + k t(n - k)) / n, the circulant nearest to T in the Frobenius norm ("An optimal
// circulant preconditioner for Toeplitz systems", 1988). Its eigenvalues lie between T's, so it is definite if T is. A
// step is two real transforms of length 2 n and two of length n. A core stops after the step that is accurate enough; a
// GPU runs all steps, the later ones without effect.

/// Computes eigenvalues = C's, n/2 + 1 of them (the others repeat); broken = n if one of them is not positive, else 0.
/// t is n x 1, work toeplitz_rows(n) x 1.
template <class T>
struct ToeplitzChan {
  static constexpr auto name = "toeplitz_chan";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, In<T> t, Out<T> eigenvalues, Out<double> broken, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<T> eigenvalues, Out<double> broken,
                   Scratch<T> work);
};

/// Stopping rules.
template <class T>
struct ToeplitzGradientsArgs : RefinedSolveArgs<T> {
  double inner = 0;    ///< ||residual|| / ||b||; then refinement restarts from the residual
  int iterations = 0;  ///< at most
};

/// Numbers of a signal's work space for the sums of a step.
constexpr index_t toeplitz_gradient_numbers = 1024;

/// Solves B = (T - sigma I)^-1 B by gradients and iterative refinement.
///
/// b, outcome see RefinedSolveArgs.
/// info       see RefinedSolveArgs. A breakdown has the order n: if ToeplitzChan's `broken` is set, or if a direction d
///            has d^T T d <= 0.
/// work       2 spectrum.rows x 8 k.
/// numbers    toeplitz_gradient_numbers x 1.
template <class T>
struct ToeplitzGradientsSolve {
  static constexpr auto name = "toeplitz_gradients";
  static constexpr std::uint32_t color = 0x55a868;
  using Args = ToeplitzGradientsArgs<T>;
  static void cpu(const Args& args, In<T> spectrum, In<T> eigenvalues, In<double> broken, InOut<T> b,
                  Out<double> outcome, InOut<int> info, Scratch<T> work, Scratch<double> numbers);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> eigenvalues, In<double> broken,
                   InOut<T> b, Out<double> outcome, InOut<int> info, Scratch<T> work, Scratch<double> numbers);
};

}  // namespace tesela::kernels
