#pragma once

#include <tesela/codelets/qr/append_rows.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/row_source.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

struct TallSkinnyOptions {
  index_t chains = 0;  ///< sequences of rows that run side by side; 0: one for each worker
};

/// The R of A = Q R without Q (TSQR: Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and
/// sequential QR and LU factorizations"): one pass over A. A is m x n, m and n any, in tiles of whole rows or of
/// several tile columns; R is one n x n tile, written. R's strict lower triangle is zero, its signs are any, and R^T R
/// = A^T A to rounding, column by column, whatever A's condition and scale; for m < n the last n - m rows vanish to
/// rounding. NaN and infinities in A become NaN in R. Chains of tiles each build a triangle of their own, a binary tree
/// joins them; few tall tiles serve a GPU best. Inserts into the graph and returns. Throws ArgumentError, with nothing
/// inserted, when R is not one n x n tile or shares tiles with A.
template <class T>
void tall_skinny_r(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& R, const TallSkinnyOptions& options = {});

/// The same for a matrix that may be larger than memory: `rows` rows at a time (0: about 16 MB) are read while the
/// workers are busy with others. Returns when all of A is read and its rows are in triangles; the tasks that join these
/// may still run. Throws as above, and what reading throws; R is worthless then.
template <class T>
void tall_skinny_r(Graph& g, const RowSource<T>& A, const TileMatrix<T>& R, index_t rows = 0,
                   const TallSkinnyOptions& options = {});

/// The same for a matrix in a file.
template <class T>
void tall_skinny_r(Graph& g, const MatrixRows<T>& A, const TileMatrix<T>& R, index_t rows = 0,
                   const TallSkinnyOptions& options = {});

/// Least squares min ||A x - b||_2 whose rows arrive in blocks: keeps the triangle of [A | B],
///
///     [R  Q^T B]   n rows
///     [0    S  ]   r rows,   ||S e_k|| = the residual norm of right-hand side k,
///
/// and nothing else, so that memory does not grow with the rows (Golub and Van Loan, "Matrix Computations", 6.5). Rows
/// whose graph was cancelled or failed are lost, and those before them too: what is asked for then is an ArgumentError.
template <class T>
class QrUpdater {
 public:
  /// n >= 1 unknowns, r >= 0 right-hand sides. Throws ArgumentError otherwise. The runtime must outlive it.
  QrUpdater(Runtime& runtime, index_t n, index_t r = 0);

  /// Inserts the update by new rows: A is m x n, B m x r, m any; both cut into the same rows of tiles, which must stay
  /// until the tasks have run. Returns at once. Throws ArgumentError, with nothing inserted, when shapes do not fit.
  void append(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TallSkinnyOptions& options = {});
  void append(Graph& g, const TileMatrix<T>& A, const TallSkinnyOptions& options = {});  ///< when r is 0
  /// The same for rows of [A | B] that are multiplied by numbers on their way, D, m x 1 and cut into the same rows.
  /// Where that is 0 a row does not count, whatever it holds. A and B are only read.
  void append_scaled(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& D,
                     const TallSkinnyOptions& options = {});

  struct Solution {
    HostMatrix<T> x;  ///< n x r, or 0 x 0 when the status is not 0
    /// 0; k when R(k, k), counted from 1, is zero or not finite, and rows() + 1 when there are fewer rows than
    /// unknowns: A is rank deficient; n + 1 when R is regular but x is not finite.
    Status status;
  };
  /// X = R^-1 (Q^T B) for the rows so far. Waits for the tasks that append. Says nothing about a nearly singular R:
  /// look at its condition.
  Solution solve() const;

  /// The r residual norms ||A x_k - b_k||_2 for the rows so far. Waits for the tasks that append.
  std::vector<T> residual_norms() const;

  index_t n() const { return n_; }
  index_t r() const { return r_; }
  index_t rows() const { return rows_; }  ///< appended so far

  /// The triangle as one (n + r) x (n + r) tile, zeros below its diagonal; without contents before the first append.
  const TileMatrix<T>& triangle() const { return triangle_; }

 private:
  void append_tiles(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>* B, const TileMatrix<T>* D,
                    const TallSkinnyOptions& options);

  index_t n_, r_, rows_ = 0;
  bool empty_ = true;
  TileMatrix<T> triangle_;
};

}  // namespace tesela
