#pragma once

#include <tesela/codelets/toeplitz/general_toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

namespace tesela::kernels {

// The inverse of a general Toeplitz matrix by Levinson's recursion with look-ahead, on cores, in double precision.
//
// t          n x 2: the first column and the first row of T, of size 1.
// generator  transform_rows(toeplitz_length(n)) x 4: transforms of vectors, see LookaheadInverse.

/// Report of the recursion: the rows of its report tile.
enum LookaheadReport : std::uint8_t {
  lookahead_breakdown,  ///< first order of a run without an invertible leading matrix; 0 if there is none
  lookahead_largest,    ///< size of the largest step
  lookahead_steps,      ///< number of steps; n without look-ahead
  lookahead_negative,   ///< negative eigenvalues of a symmetric or Hermitian T
  lookahead_report_rows,
};

/// Runs the recursion (internal/lookahead_recursion.hpp): 4 n^2 flops without look-ahead steps, 16 n^2 for complex T.
template <class T>
struct LookaheadFactor {
  static constexpr auto name = "lookahead_factor";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t largest_block = 0;  ///< largest number of columns of a look-ahead step
  };
  static double flops(const Args&, Shape t, Shape, Shape) {
    return 4 * flops_each<T> * static_cast<double>(t.rows) * static_cast<double>(t.rows);
  }
  static void cpu(const Args& args, In<T> t, Out<T> generator, Out<double> report);
};

/// Computes the same for a complex Hermitian T, without look-ahead: the recursion of Durbin (levinson.hpp) with
/// y(j) += alpha conj(y(k - 1 - j)) and the real pivots beta(k + 1) = (1 - |alpha|^2) beta(k), 8 n^2 flops. With the
/// first column x of T^-1 and w = (0, conj(x(n - 1)), ..., conj(x(1))),
///   x(0) T^-1 = L(x) L(x)^H - L(w) L(w)^H  (I. Gohberg, A. Semencul, 1972).
///
/// recursion  levinson_report_rows x 1, see LevinsonReport.
template <class T>
struct HermitianFactor {
  static constexpr auto name = "hermitian_factor";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {};
  static double flops(const Args&, Shape t, Shape, Shape, Shape) {
    return 2 * flops_each<T> * static_cast<double>(t.rows) * static_cast<double>(t.rows);
  }
  static void cpu(const Args& args, In<T> t, Out<T> generator, Out<double> report, Out<double> recursion);
};

/// Computes the same from the first column of T^-1, n x 1, which another recursion computed, and its report.
template <class T>
struct HermitianGenerator {
  static constexpr auto name = "hermitian_generator";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, In<T> inverse, In<double> recursion, Out<T> generator, Out<double> report);
};

/// Completes generator and report from the first n numbers of the generator, the first column of T^-1.
template <class T>
void finish_generator(index_t n, const Out<T>& generator, const double* recursion, const Out<double>& report);

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
  static void cpu(const Args& args, In<with_parts<T, double>> t, In<with_parts<T, double>> generator, In<double> report,
                  InOut<T> b, Out<double> outcome, InOut<int> info);
};

/// An approximate inverse and its refinement, for vectors of size about 1.
///
/// Method  f and q of the recursion of order n give
///           T^-1 = L(f) L(q(n), q(n - 1), ..., q(1))^T - L(q(0), ..., q(n - 1)) L(0, f(n - 1), ..., f(1))^T,
///         L(x) the lower triangular Toeplitz matrix with first column x, for every T that has an inverse (G. Heinig,
///         K. Rost, 1984; G. Labahn, T. Shalom, Linear Algebra Appl. 175, 1992), without conjugates also if T is
///         complex. A product with L(x)^T multiplies by the conjugate of the transform of conj(x), which the generator
///         has. A product needs six transforms. S is double or std::complex<double>.
template <class S>
class LookaheadInverse {
 public:
  LookaheadInverse(In<S> t, In<S> generator);

  /// Computes x = T^-1 b; x and b have n numbers.
  void apply(const S* b, S* x);
  /// Solves T x = b with at most `steps` steps of refinement. Returns ||T x - b|| / (norm ||x|| + ||b||).
  double solve(const S* b, S* x, double norm, int steps);
  /// Returns the relative residual of x.
  double residual(const S* b, const S* x, double norm);

 private:
  double residual_norm(const S* b, const S* x);

  GeneralToeplitz<S> matrix_;
  In<S> generator_;
  index_t n_, rows_;
  std::vector<S> sum_, part_, residual_, better_, kept_;
};

}  // namespace tesela::kernels
