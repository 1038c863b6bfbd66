#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/matrix_view.hpp>

#include <cstdint>
#include <vector>

namespace tesela {

/// What tls found.
enum class TlsStatus : std::uint8_t {
  ok,          ///< X is the unique solution
  not_unique,  ///< X is the solution of least ||X||_F: singular values n and n + 1 of [A B] are equal to rounding
  nongeneric,  ///< no correction is the smallest one: the problem has no solution to working precision
  not_finite,  ///< NaN or an infinity in the data, or an overflow
  inaccurate,  ///< a measured error exceeds its bound
};

/// Returns "ok", "not unique", "nongeneric", "not finite" or "inaccurate".
const char* description(TlsStatus status);

/// Options of tls.
struct TlsOptions {
  bool intercept = false;  ///< whether a constant without error is added to A x: A and B are centred
};

/// Result of tls.
template <class T>
struct TotalLeastSquares {
  HostMatrix<T> X;                   ///< n x r; 0 x 0 without a solution
  std::vector<double> intercepts;    ///< of the columns of B; empty without
  TlsStatus status = TlsStatus::ok;  ///< whether to trust X
  std::vector<double> values;        ///< the n + r singular values of [A B], descending
  double correction = 0;             ///< ||[E F]||_F, the norm of the r smallest values
  double gap = 0;                    ///< value n minus value n + 1, over the largest; the errors of X grow as 1 / gap
  Measured backward_error = {};      ///< of the triangle of [A B], as tls_error has it; NaN if not finite
  Measured column_error = {};        ///< of the worst column of X, as tls_error has it
};

/// Solves total least squares: (A + E) X = B + F with the least ||[E F]||_F, for errors of one size in A and B.
///
/// a, b     m x n and m x r, on the host or on a device; only read. Scale columns whose errors differ in size.
/// Returns  X, the singular values of [A B], and a status; a nongeneric problem has no X.
/// Throws   ArgumentError if the shapes do not conform.
/// Waits    for the computation.
/// Method   A graph reduces [A B] to its triangle. With the right singular vectors V12 (n rows) and V22 (r rows) of the
///          r smallest values X = -V12 V22^-1. Source: Golub and Van Loan, "An analysis of the total least squares
///          problem"; for equal values Van Huffel and Vandewalle, "The Total Least Squares Problem", 3.3. If B is
///          small relative to A, V would lose digits of X: steps X = A^+ B + (A^T A)^-1 X B^T (B - A X) replace it.
template <class T>
[[nodiscard]] TotalLeastSquares<T> tls(Runtime& runtime, MatrixView<T> a, MatrixView<T> b,
                                       const TlsOptions& options = {});

/// Solves it with the options of a graph.
template <class T>
[[nodiscard]] TotalLeastSquares<T> tls(Graph& g, MatrixView<T> a, MatrixView<T> b, const TlsOptions& options = {});

/// The measured errors of X for M = [A B], with an orthonormal basis Z of the span of [X; -I].
struct TlsError {
  /// ||M^T M Z - Z Z^T M^T M Z||_F / ||M||_F^2: 0 exactly if Z spans singular vectors. If B is small relative to A, at
  /// least ||A^T R + X B^T R||_F / (||A|| (||A|| ||X|| + ||B||)), R = A X - B, which is 0 for the same X.
  double invariance = 0;
  /// The largest ||A^T r + X B^T r|| of a column r of R over ||A|| (||A|| ||x|| + ||b||) + ||X|| ||B|| ||r||: columns
  /// of B that are much smaller than others may lose all digits of X without an effect on `invariance`.
  double column = 0;
  double correction = 0;  ///< ||M Z||_F, the norm of the least [E F] for this X
  double norm = 0;        ///< ||M||_F
};

/// Measures X in double precision, from M in one array.
template <class T>
TlsError tls_error(const HostMatrix<double>& m, const HostMatrix<T>& x);

}  // namespace tesela
