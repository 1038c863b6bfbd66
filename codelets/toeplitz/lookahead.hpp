#pragma once

#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

namespace tesela::kernels {

// The inverse of a general Toeplitz matrix by Levinson's recursion with look-ahead, on cores, in double precision.
//
// t          n x 2: the first column and the first row of T, of size 1.
// generator  toeplitz_rows(toeplitz_length(n)) x 4: transforms of vectors, see LookaheadInverse.

/// Report of the recursion: the rows of its report tile.
enum LookaheadReport : std::uint8_t {
  lookahead_breakdown,  ///< first order of a run without an invertible leading matrix; 0 if there is none
  lookahead_largest,    ///< size of the largest step
  lookahead_steps,      ///< number of steps; n without look-ahead
  lookahead_negative,   ///< negative eigenvalues of a symmetric T
  lookahead_report_rows,
};

/// Runs the recursion (internal/lookahead_recursion.hpp): 4 n^2 flops without look-ahead steps.
struct LookaheadFactor {
  static constexpr auto name = "lookahead_factor";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t largest_block = 0;  ///< largest number of columns of a look-ahead step
  };
  static double flops(const Args&, Shape t, Shape, Shape) {
    return 4 * static_cast<double>(t.rows) * static_cast<double>(t.rows);
  }
  static void cpu(const Args& args, In<double> t, Out<double> generator, Out<double> report);
};

/// Solves B = T^-1 B with iterative refinement in double precision.
///
/// args            norm, steps and tolerance as in RefinedSolveArgs; T is the system's matrix times 2^-exponent.
/// b               n x k, becomes X rounded to T, or zero after a breakdown.
/// outcome, info   see RefinedSolveArgs; the residuals belong to the rounded X.
template <class T>
struct LookaheadSolve {
  static constexpr auto name = "lookahead_solve";
  static constexpr std::uint32_t color = 0x55a868;
  using Args = RefinedSolveArgs<double>;
  static void cpu(const Args& args, In<double> t, In<double> generator, In<double> report, InOut<T> b,
                  Out<double> outcome, InOut<int> info);
};

/// An approximate inverse and its refinement, for vectors of size about 1.
///
/// Method  f and q of the recursion of order n give
///           T^-1 = L(f) L(q(n), q(n - 1), ..., q(1))^T - L(q(0), ..., q(n - 1)) L(0, f(n - 1), ..., f(1))^T,
///         L(x) the lower triangular Toeplitz matrix with first column x, for every T that has an inverse (G. Heinig,
///         K. Rost, 1984; G. Labahn, T. Shalom, Linear Algebra Appl. 175, 1992). A product needs six transforms.
class LookaheadInverse {
 public:
  LookaheadInverse(In<double> t, In<double> generator);

  /// Computes x = T^-1 b; x and b have n numbers.
  void apply(const double* b, double* x);
  /// Solves T x = b with at most `steps` steps of refinement. Returns ||T x - b|| / (norm ||x|| + ||b||).
  double solve(const double* b, double* x, double norm, int steps);
  /// Returns the relative residual of x.
  double residual(const double* b, const double* x, double norm);

 private:
  double residual_norm(const double* b, const double* x);

  GeneralToeplitz matrix_;
  In<double> generator_;
  index_t n_, rows_;
  std::vector<double> sum_, part_, residual_, better_, kept_;
};

}  // namespace tesela::kernels
