#pragma once

#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/support/solution.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace tesela {

/// How ols reduces [A | B] to [R | Q^H B].
enum class OlsMethod : std::uint8_t {
  automatic,    ///< tall_skinny if m >= 16 (n + r), n + r <= 32 and the numbers are real, otherwise tiles
  tiles,        ///< qr: for general matrices
  tall_skinny,  ///< QrUpdater, in one pass over A and B, which are only read: for many rows and few columns, all real
  givens,       ///< givens_qr: for banded and staircase matrices
};

/// Returns the methods with their names, `auto` first. givens itself has three methods: givens_methods().
std::span<const Named<OlsMethod>> ols_methods();

/// Options of ols, wls, lse and generalized least squares.
struct OlsOptions {
  OlsMethod method = OlsMethod::automatic;
  /// The rank is the number of singular values of A, its columns scaled to unit norm, above rcond times the largest. 0
  /// selects max(m, n) eps.
  double rcond = 0;
  QrOptions qr = {};                      ///< for tiles
  GivensOptions givens = {};              ///< for givens
  std::vector<index_t> column_ends = {};  ///< staircase of an A with m >= n, for tiles and givens: as QrOptions::ends
  index_t rows = 0;                       ///< rows per block that each worker reads from a file; 0 selects about 16 MB
  bool keep_triangle = false;             ///< whether to return R in host memory, for covariance()
  bool multipliers = false;  ///< whether to compute multipliers, for generalized least squares on the path `model`
};

/// Result of ols, wls and generalized least squares. If `condition` is far from 1 / rcond, it is an estimate in the
/// 1-norm: of A with its columns scaled to unit norm if m >= n, of A itself if m < n. Otherwise it is the ratio of the
/// largest to the smallest singular value of A with its columns scaled, which exceeds 1 / rcond exactly if the rank is
/// deficient. It is infinite for an exactly singular R. X has the least ||D x||_2 instead of ||x||_2 if A's column
/// norms D differ too much for the least ||x||_2 (see minimum_norm).
template <class T>
struct LeastSquares : Solution<T> {
  /// Measured error of X in the factored problem min ||R x - Q^H b||_2 (bounded by ols_error); on A itself if m < n and
  /// the rank is full. The factorization is backward stable; `tesela ols` measures the error on the original A. NaN if
  /// not finite.
  Measured backward_error = {};
  double cut = 0;  ///< for a deficient rank: the largest change of a column of A, relative to its norm
  std::vector<real_t<T>>
      residual_norms;  ///< ||A x_k - b_k||_2, from Q^H B, or measured if m < n and the rank is full; NaN if not finite
  /// On request, if the rank is n: R with R^H R = A^H A, its columns in the order of `pivots` (empty: the original
  /// order).
  HostMatrix<T> triangle = {};
  std::vector<index_t> pivots = {};
  index_t degrees_of_freedom = 0;  ///< number of rows that count minus the rank
};

/// Solves the ordinary least-squares problem X = argmin ||A X - B||_2, column by column, for any m x n A (LAPACK gels,
/// or gelsy if A is rank deficient).
///
/// A        m x n; overwritten, except by tall_skinny. Any tiles for `tiles` and `tall_skinny`; one tile row (m >= n)
///          or one tile column (m < n) for givens.
/// B        m x r, its tile rows equal to A's; overwritten, except by tall_skinny.
/// Returns  X, rank, condition and the measured backward error; `status` reports whether X exists and is accurate.
/// Throws   ArgumentError if shapes or tiles do not conform; as Graph::wait.
/// Waits    for the graph.
/// Method   m >= n: extended QR, X = R^-1 (Q^H B). m < n: the solution of least norm X = Q R^-H B with A^H = Q R,
///          corrected once or twice if the equations do not hold to rounding. The rank is decided on columns scaled to
///          unit norm, so that it does not depend on units. If the condition estimate comes near 1 / rcond, the
///          singular values of R decide, and R is factored again with column pivoting (minimum_norm). Powers of two as
///          factors of A or B change X by powers of two only.
template <class T>
[[nodiscard]] LeastSquares<T> ols(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const OlsOptions& options = {});

/// Solves the problem for matrices in memory: chooses the method and the tiles, and waits.
///
/// a, b  m x n and m x r, on the host or on one device; overwritten. On the host powers of two scale an A and a B near
///       the ends of the range.
template <class T>
[[nodiscard]] LeastSquares<T> ols(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const OlsOptions& options = {});

/// Turns the answer for 2^-of_a A and 2^-of_b B (range_exponent) into the answer for A and B; `not_finite` if that
/// overflows.
template <class T>
void scale_back(LeastSquares<T>& answer, int of_a, int of_b);

/// Solves the problem by tall_skinny for an A in a file, which may be larger than memory: A is read once, a block of
/// rows at a time. B is m x r. Throws ArgumentError if A and B differ in rows, FileError as MatrixRows::read.
template <class T>
[[nodiscard]] LeastSquares<T> ols(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                  const OlsOptions& options = {});

/// Returns the measured error that judges a solution, with its bound.
///
/// errors  the measured errors of an m x n problem.
/// rank    n: each column of A has its own perturbation (column_error). m < n: the equations must hold
///         (equation_error). Otherwise, and -1: A as a whole is perturbed, by rounding and by `cut` (backward_error).
template <class T>
[[nodiscard]] Measured ols_error(const typename kernels::NormalResidual<T>::Result& errors, Shape a, index_t rank,
                                 double cut);

/// Returns `wanted`, or the method that `automatic` selects for an A of this shape, of numbers of type T, and r
/// right-hand sides.
template <class T>
OlsMethod ols_method(OlsMethod wanted, Shape a, index_t r);

/// Returns A's tiles for a method: the tiles that ols chooses, or `wanted` if it is not 0 x 0. givens needs whole
/// columns, or whole rows if m < n, whatever is wanted.
TileShape ols_tile(const Runtime& runtime, OlsMethod method, Shape a, TileShape wanted = {0, 0});

/// Returns the operations for rates: qr_flops() of A, or of A^H for m < n, and 4 m n for Q^H b of each
/// of r right-hand sides.
inline double ols_flops(Shape a, index_t r) {
  return qr_flops(std::max(a.rows, a.cols), std::min(a.rows, a.cols)) +
         4 * static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(r);
}

}  // namespace tesela
