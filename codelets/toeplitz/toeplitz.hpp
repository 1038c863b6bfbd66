#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

// Symmetric Toeplitz matrices T(i, j) = t(|i - j|) for n numbers t, and their shifts T - sigma I.

/// Returns the length of the transforms that multiply by an n x n Toeplitz matrix, at least 2 n - 1.
index_t toeplitz_length(index_t n);

/// Returns the rows of the tiles for transforms of this length: real sequences, transformed in place.
constexpr index_t toeplitz_rows(index_t length) { return 2 * (length / 2 + 1); }

/// An interval with all values of T - sigma I's symbol f(x) = t(0) - sigma + 2 sum_k t(k) cos(k x), and so with its
/// eigenvalues, up to rounding. It is f's range on N >= 8 n points, widened about its middle by 1 / cos(pi (n - 1) /
/// N), at most 1.09: a trigonometric polynomial of degree n - 1 cannot exceed this between the points (Ehlich and
/// Zeller). NaN if t or sigma is not finite, 0 for n = 0.
struct SymbolRange {
  double low = 0, high = 0;  ///< ends of the interval
};
template <class T>
SymbolRange toeplitz_symbol_range(index_t n, const T* t, double sigma);

/// Returns the estimate of ||T - sigma I||_2 that scales residuals, an upper bound up to rounding: the smaller of the
/// 1-norm and of the largest magnitude in toeplitz_symbol_range. NaN if t or sigma is not finite, 0 for n = 0.
template <class T>
double toeplitz_norm_bound(index_t n, const T* t, double sigma);

/// Returns ||T||_1.
template <class T>
double toeplitz_one_norm(index_t n, const T* t);

/// Computes the eigenvalues of the circulant matrix of order N = toeplitz_length(n) whose leading n x n block is T.
///
/// t        n x 1.
/// spectrum N/2 + 1 eigenvalues (the others repeat), which ToeplitzMultiply reads instead of T.
/// work     toeplitz_rows(N) x 1.
template <class T>
struct ToeplitzSpectrum {
  static constexpr auto name = "toeplitz_spectrum";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, In<T> t, Out<T> spectrum, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<T> spectrum, Scratch<T> work);
};

/// Computes Y = alpha (weight T - sigma I) X + beta Y by Fourier transforms.
///
/// X, Y     n x k; Y is not read if beta is 0. The error of a column is a few roundings of ||t|| ||x|| sqrt(log n).
/// work     toeplitz_rows(N) x k.
template <class T>
struct ToeplitzMultiply {
  static constexpr auto name = "toeplitz_multiply";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    T alpha = 1, beta = 0, sigma = 0, weight = 1;
  };
  static double flops(const Args&, Shape spectrum, Shape x, Shape, Shape) {
    double levels = 0;
    for (index_t n = 2 * spectrum.rows; n > 1; n /= 2) levels += 1;
    return 2 * 5 * static_cast<double>(spectrum.rows) * levels * static_cast<double>(x.cols);
  }
  static void cpu(const Args& args, In<T> spectrum, In<T> x, InOut<T> y, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, In<T> x, InOut<T> y, Scratch<T> work);
};

// Common properties of the kernels that solve T X = B by an approximate inverse and steps of iterative refinement,
// whose residuals are products by ToeplitzMultiply's transforms. A step's result is kept in the columns where it made
// the residual smaller. A core stops when no column improves; a GPU runs every step. T has size 1, and so has each
// column of B during the solve: squares and products stay in range for every size of the system.
//
// B, n x k, becomes X, or zero if the inverse broke down.
// outcome, k x 4, has in its first column each column's ||T x - b|| / (norm ||x|| + ||b||), or the relative error by
// which denormal numbers change X (infinite if X overflows), if that is larger.
// info becomes the order of a breakdown, or else n + 1 + j for the first column j that did not reach `tolerance`;
// otherwise it is unchanged.

/// Arguments of the solvers with refinement.
template <class T>
struct RefinedSolveArgs {
  double norm = 0;       ///< of the matrix, estimated
  int steps = 3;         ///< most steps of refinement
  double tolerance = 0;  ///< of the first column of `outcome`
  int exponent = 0;      ///< the matrix is the system's times 2^-exponent
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(steps); }
};

}  // namespace tesela::kernels
