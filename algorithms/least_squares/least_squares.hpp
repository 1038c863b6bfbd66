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
#include <tesela/tiles/tile_matrix.hpp>

#include <span>
#include <vector>

namespace tesela {

/// How [A | B] becomes [R | Q^T B].
enum class OlsMethod : std::uint8_t {
  automatic,    ///< tall_skinny for m >= 16 (n + r) with n + r <= 32, else tiles
  tiles,        ///< qr
  tall_skinny,  ///< QrUpdater: one pass over A and B, which are only read
  givens,       ///< givens_qr
};

/// All of them, `auto` first. (givens has three methods of its own: givens_methods().)
std::span<const Named<OlsMethod>> ols_methods();

struct OlsOptions {
  OlsMethod method = OlsMethod::automatic;
  /// The rank is the number of singular values of A, its columns scaled to unit norm, above rcond times the largest
  /// one; 0 means max(m, n) eps.
  double rcond = 0;
  QrOptions qr = {};                      ///< of tiles
  GivensOptions givens = {};              ///< of givens
  std::vector<index_t> column_ends = {};  ///< of an A with m >= n: as QrOptions::ends, for tiles and givens
  index_t rows = 0;                       ///< read from a file at a time by each worker; 0: about 16 MB
  bool keep_triangle = false;             ///< leave R at home, for covariance()
  bool multipliers = false;  ///< of generalized least squares that goes to the model: whether they are wanted
};

// The condition of LeastSquares is an estimate in the 1-norm, of A with columns scaled to unit norm for m >= n, of A
// itself for m < n, if the estimate is far from 1 / rcond. Otherwise it is the ratio of the largest to the smallest
// singular value of A with scaled columns: above 1 / rcond exactly if the rank is deficient. It is infinite for an
// exactly singular R. X has the least ||D x||_2 instead of ||x||_2 if the norms of A's columns differ so much that the
// other cannot be computed (see minimum_norm).
template <class T>
struct LeastSquares : Solution<T> {
  /// What was measured of X without A, which is gone: how well it solves the problem that the factorization left, min
  /// ||R x - Q^T b||_2 (judged by ols_error); on A itself for m < n and full rank. The factorization itself is backward
  /// stable; `tesela ols` measures the whole, on A. NaN when not finite.
  Measured backward_error = {};
  double cut = 0;  ///< for a deficient rank: by how much of its norm a column of A was changed at most
  std::vector<T>
      residual_norms;  ///< ||A x_k - b_k||_2, from Q^T B, or measured (m < n, full rank); NaN when not finite
  /// If it was asked for and the rank is n: R with R^T R = A^T A, of the columns in the order of `pivots` (empty: as
  /// they are).
  HostMatrix<T> triangle = {};
  std::vector<index_t> pivots = {};
  index_t degrees_of_freedom = 0;  ///< rows that count less the rank
};

/// Ordinary least squares, LAPACK gels and, when A is rank deficient, gelsy: X = argmin ||A X - B||_2 column by column,
/// for any m x n A and m x r B. m >= n: extended QR, X = R^-1 (Q^T B). m < n: the solution of least norm, X = Q R^-T B
/// with A^T = Q R, corrected once or twice where the equations do not yet hold to rounding. The rank is decided on
/// columns scaled to unit norm, so that a change of units never changes it; when the condition estimate comes near 1 /
/// rcond, the singular values of R decide, and R is factored again with column pivoting (minimum_norm). Powers of two
/// as factors of A or B are those of X and of nothing else.
///
/// Inserts into the graph and waits for it. A and B are overwritten (but for tall_skinny). B's tile rows are A's; A is
/// cut as suits the method: any way for tiles, rows whole or not for tall_skinny, one tile row (m >= n) or one tile
/// column (m < n) for givens. Throws ArgumentError otherwise, and as Graph::wait does.
template <class T>
[[nodiscard]] LeastSquares<T> ols(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B,
                                  const OlsOptions& options = {});

/// The same by tall_skinny for an A in a file, which may be larger than memory: read once, some rows at a time. B is
/// m x r. Throws ArgumentError when its rows are not A's, FileError as MatrixRows::read.
template <class T>
[[nodiscard]] LeastSquares<T> ols(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B,
                                  const OlsOptions& options = {});

/// Which of the measured errors judges the solution of an m x n problem of this rank, and the most that it may be.
/// Every column of A has its own perturbation where the rank is n (column_error); where it is m < n the equations hold
/// (equation_error); otherwise, and for a rank of -1, A as a whole is perturbed, and by the columns' cut
/// (backward_error).
template <class T>
[[nodiscard]] Measured ols_error(const typename kernels::NormalResidual<T>::Result& errors, Shape a, index_t rank,
                                 double cut);

/// The method that automatic means.
OlsMethod suitable_ols_method(index_t m, index_t n, index_t r);

/// How A is best cut for a method.
TileShape suitable_ols_tile(const Runtime& runtime, OlsMethod method, index_t m, index_t n);

/// The cut nearest to `wanted` that the method takes: givens wants whole columns, or rows where m < n.
TileShape possible_ols_tile(OlsMethod method, TileShape wanted, index_t m, index_t n);

}  // namespace tesela
