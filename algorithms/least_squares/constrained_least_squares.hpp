#pragma once

#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/solution.hpp>

#include <vector>

namespace tesela {

/// Result of lse.
template <class T>
struct ConstrainedLeastSquares : Solution<T> {
  /// Lagrange multipliers, p x r: A^H (b - A x) = C^H lambda; zero for dropped rows; 0 x 0 without X. T may not hold
  /// them: lambda_ik = 2^(multiplier_row_exponents[i] + multiplier_exponents[k]) multipliers(i, k).
  HostMatrix<T> multipliers;
  std::vector<int> multiplier_exponents = {}, multiplier_row_exponents = {};
  index_t constraint_rank = 0;             ///< rank of C with its rows and columns scaled to one size
  std::vector<index_t> dropped_rows = {};  ///< rows of C that the other rows imply, ascending, from 0
  double constraint_condition = 1;         ///< estimated condition of the kept rows; with a GPU of C R^-1
  double cut = 0;                      ///< largest part of A and C, relative to their sizes, that was treated as zero
  std::vector<double> distances = {};  ///< min ||C x - d_k||_2; 0 for a consistent column
  std::vector<real_t<T>> residual_norms = {};  ///< ||A x_k - b_k||_2; NaN without X
  /// Largest ||C x - d|| / (||C||_F ||x|| + ||d||) of all columns, rows scaled to one size.
  Measured constraint_error = {};
};

/// Computes the triangle of [A | B] by any method of `ols`. It is all that lse() needs of A, for any number of
/// constraint sets.
///
/// A, B    m x n and m x r; overwritten.
/// Throws  ArgumentError as `ols`.
template <class T>
[[nodiscard]] ExtendedQr<T> triangle_of(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                        const OlsOptions& options = {});
/// Computes the triangle in one pass over an A in a file, which may be larger than memory.
template <class T>
[[nodiscard]] ExtendedQr<T> triangle_of(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                        const OlsOptions& options = {});

/// Solves the equality-constrained least-squares problem X = argmin ||A x - b||_2 subject to C x = d, column by column
/// (LAPACK gglse, for any shapes and ranks), for real and complex numbers.
///
/// A, B     m x n and m x r, or their triangle.
/// C, D     p x n and p x r.
/// Returns  X, multipliers, ranks, conditions and measured errors; `status` reports whether X exists and is accurate.
/// Throws   ArgumentError if shapes do not conform; as Graph::wait.
/// Waits    for the graph.
/// Method   Unknowns are scaled so that A's columns have one size. Then C^H = Q [R_C; 0], x = Q [y1; y2], R_C^H y1 = d,
///          and y2 = argmin ||(A Q_2) y2 - (b - A Q_1 y1)||_2 of least norm (Golub and Van Loan, "Matrix Computations",
///          6.2). Parts of A Q_2 below rcond ||A||_F count as zero. Dependent rows of C (singular values up to rcond
///          times the largest, rows and columns scaled to one size) are dropped and named; d must agree with them to 10
///          max(n, p) eps (|d_i| + sum_j |c_ij x_j|), otherwise its column is inconsistent. Results do not depend on
///          units: powers of two as factors of A and B, of C and D, of a row of C and D, or (if X is unique) of a
///          column change X and the multipliers by powers of two only.
template <class T>
[[nodiscard]] ConstrainedLeastSquares<T> lse(Graph& g, const ExtendedQr<T>& triangle, const HostMatrix<T>& C,
                                             const HostMatrix<T>& D, const OlsOptions& options = {});
template <class T>
[[nodiscard]] ConstrainedLeastSquares<T> lse(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                             const HostMatrix<T>& C, const HostMatrix<T>& D,
                                             const OlsOptions& options = {});
/// Solves the problem for matrices in memory: chooses the method and the tiles, and waits. a and b may be on a device;
/// they are overwritten.
template <class T>
[[nodiscard]] ConstrainedLeastSquares<T> lse(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const HostMatrix<T>& C,
                                             const HostMatrix<T>& D, const OlsOptions& options = {});

/// Returns the standard errors of lse's x for errors of b of variance 1: the norms of the rows of N R^-1, C N = 0,
/// A N = Q R. The rows of C without `dropped_rows` are independent, and A N has full rank.
[[nodiscard]] std::vector<double> constrained_errors(const HostMatrix<double>& A, const HostMatrix<double>& C,
                                                     const std::vector<index_t>& dropped_rows);

}  // namespace tesela
