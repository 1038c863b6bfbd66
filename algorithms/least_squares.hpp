#pragma once

#include "algorithms/givens.hpp"
#include "algorithms/qr.hpp"
#include "runtime/graph.hpp"
#include "tiles/host_matrix.hpp"
#include "tiles/matrix_rows.hpp"
#include "tiles/tile_matrix.hpp"

#include <vector>

namespace tesela {

/// How [A | B] becomes [R | Q^T B].
enum class OlsMethod : std::uint8_t {
  automatic,    ///< tall_skinny for m >= 16 (n + r) with n + r <= 32, else tiles
  tiles,        ///< qr
  tall_skinny,  ///< QrUpdater: one pass over A and B, which are only read
  givens,       ///< givens_qr
};

struct OlsOptions {
  OlsMethod method = OlsMethod::automatic;
  /// Singular values of A, its columns scaled to unit norm, below rcond times the largest one count as zero; 0 means
  /// max(m, n) eps.
  double rcond = 0;
  QrOptions qr = {};          ///< of tiles
  GivensOptions givens = {};  ///< of givens
  index_t rows = 0;           ///< read from a file at a time by each worker; 0: about 16 MB
};

enum class OlsStatus : std::uint8_t {
  ok,              ///< full rank
  rank_deficient,  ///< rank < min(m, n): X is the solution of least norm
  not_finite,      ///< NaN or an infinity in A or B, or an overflow: there is no X
};

/// What `tesela ols` and its JSON call the status: "ok", "rank deficient", "not finite".
const char* description(OlsStatus status);

template <class T>
struct LeastSquares {
  HostMatrix<T> X;  ///< n x r; 0 x 0 when not finite
  OlsStatus status = OlsStatus::ok;
  index_t rank = 0;  ///< numerical
  /// The estimated 1-norm condition number, of A with its columns scaled to unit norm for m >= n, of A as it is for m <
  /// n. Infinite for an exactly singular R; NaN when not finite.
  double condition = 1;
  std::vector<T> residual_norms;  ///< ||A x_k - b_k||_2, from Q^T B; 0 for m < n and full rank; NaN when not finite
  /// Of solutions that are not unique (rank < n) X has the least ||x||_2; if false, the least ||D x||_2, where D holds
  /// A's column norms, which differ so much that the other cannot be computed (see minimum_norm).
  bool original_units = true;
};

/// Ordinary least squares, LAPACK gels and, when A is rank deficient, gelsy: X = argmin ||A X - B||_2 column by column,
/// for any m x n A and m x r B. m >= n: extended QR, X = R^-1 (Q^T B). m < n: the solution of least norm, X = Q R^-T B
/// with A^T = Q R. The rank is decided on columns scaled to unit norm, so that a change of units never changes it; when
/// the condition estimate comes near 1 / rcond, R is factored again with column pivoting (minimum_norm).
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

/// The method that automatic means.
OlsMethod suitable_ols_method(index_t m, index_t n, index_t r);

/// How A is best cut for a method.
TileShape suitable_ols_tile(const Runtime& runtime, OlsMethod method, index_t m, index_t n);

}  // namespace tesela
