#pragma once

#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/solution.hpp>

#include <vector>

namespace tesela {

template <class T>
struct ConstrainedLeastSquares : Solution<T> {
  /// p x r: A^T (b - A x) = C^T lambda, zero for rows that were dropped; 0 x 0 without X. T may not hold them:
  /// lambda_ik is 2^(multiplier_row_exponents[i] + multiplier_exponents[k]) times what stands here.
  HostMatrix<T> multipliers;
  std::vector<int> multiplier_exponents = {}, multiplier_row_exponents = {};
  index_t constraint_rank = 0;             ///< of C, its rows and columns scaled to one size
  std::vector<index_t> dropped_rows = {};  ///< of C, ascending, counted from 0: the others imply them
  double constraint_condition = 1;         ///< of the rows that were kept, estimated; from a GPU of C R^-1
  double cut = 0;                          ///< of C's and A's sizes what was taken for zero
  std::vector<double> distances = {};      ///< min ||C x - d_k||_2; 0 for a column that is consistent
  std::vector<T> residual_norms = {};      ///< ||A x_k - b_k||_2; NaN without X
  /// The largest ||C x - d|| / (||C||_F ||x|| + ||d||) of all columns, on rows of one size.
  Measured constraint_error = {};
};

/// The triangle of [A | B] by any method of `ols`, all that lse() needs of A: once for any number of constraint sets. A
/// and B are overwritten. Throws ArgumentError as `ols` does.
template <class T>
[[nodiscard]] ExtendedQr<T> triangle_of(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                        const OlsOptions& options = {});
/// The same in one pass over an A in a file, which may be larger than memory.
template <class T>
[[nodiscard]] ExtendedQr<T> triangle_of(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                        const OlsOptions& options = {});

/// Equality-constrained least squares, LAPACK gglse for any shapes and ranks and any number of right-hand sides: X =
/// argmin ||A x - b||_2 with C x = d, column by column; C is p x n, D p x r. With unknowns in units in which A's
/// columns are of one size, C^T = Q [R_C; 0] and x = Q [y1; y2]: R_C^T y1 = d, y2 = argmin ||(A Q_2) y2 - (b - A Q_1
/// y1)||_2, of least norm (Golub and Van Loan, "Matrix Computations", 6.2). What of A Q_2 is below rcond ||A||_F counts
/// as zero.
///
/// Rows of C that depend on others (singular values up to rcond times the largest, rows and columns scaled to one size)
/// are dropped and named; d must agree with them to 10 max(n, p) eps of |d_i| + sum_j |c_ij x_j|, or its column is
/// inconsistent. Powers of two as factors of A and B together, of C and D together or row by row, or of columns where X
/// is unique are those of X and of nothing else. Waits for the graph; throws ArgumentError for shapes that do not fit,
/// and as Graph::wait.
template <class T>
[[nodiscard]] ConstrainedLeastSquares<T> lse(Graph& g, const ExtendedQr<T>& triangle, const HostMatrix<T>& C,
                                             const HostMatrix<T>& D, const OlsOptions& options = {});
template <class T>
[[nodiscard]] ConstrainedLeastSquares<T> lse(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                             const HostMatrix<T>& C, const HostMatrix<T>& D,
                                             const OlsOptions& options = {});

}  // namespace tesela
