#pragma once

#include <tesela/codelets/qr/append_rows.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/row_source.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// Options of tall_skinny_r and QrUpdater.
struct TallSkinnyOptions {
  index_t chains = 0;  ///< sequences of rows that are reduced concurrently; 0 selects one per worker
};

/// Inserts the computation of R of A = Q R without Q, in one pass over A (TSQR).
///
/// A       m x n, in tiles of whole rows or of several tile columns; only read. NaN and infinities become NaN in R.
/// R       one n x n tile, overwritten. Its strict lower triangle is zero and the signs of its rows are arbitrary. If m
///         < n, the last n - m rows vanish to rounding.
/// Throws  ArgumentError, with nothing inserted, if R is not one n x n tile or shares tiles with A.
/// Method  Each chain of tiles computes a triangle; a binary tree joins the triangles. R^H R = A^H A to rounding,
///         column by column, for any condition and scale of A. A GPU is fastest with few tall tiles. Source: Demmel,
///         Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU factorizations".
template <class T>
void tall_skinny_r(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& R, const TallSkinnyOptions& options = {});

/// Computes R for a matrix that may be larger than memory.
///
/// rows     rows per block; 0 selects about 16 MB. A block is read while the workers reduce others.
/// Returns  when all rows of A are in triangles. Tasks that join the triangles may still run.
/// Throws   as above, and the errors of reading; R is unusable then.
template <class T>
void tall_skinny_r(Graph& g, const RowSource<T>& A, const TileMatrix<T>& R, index_t rows = 0,
                   const TallSkinnyOptions& options = {});

/// Computes R for a matrix in a file.
template <class T>
void tall_skinny_r(Graph& g, const MatrixRows<T>& A, const TileMatrix<T>& R, index_t rows = 0,
                   const TallSkinnyOptions& options = {});

/// Solves min ||A X - B||_2 for rows that arrive in blocks. It keeps only the triangle of [A | B], so that memory does
/// not grow with the rows (Golub and Van Loan, "Matrix Computations", 6.5):
///
///     [R  Q^H B]   n rows
///     [0    S  ]   r rows,   ||S e_k|| = the residual norm of right-hand side k
///
/// If the graph of an update is cancelled or fails, all rows up to that update are lost, and later calls for results
/// throw ArgumentError.
template <class T>
class QrUpdater {
 public:
  /// Starts without rows. n >= 1 unknowns, r >= 0 right-hand sides; throws ArgumentError otherwise. The runtime must
  /// outlive the updater.
  QrUpdater(Runtime& runtime, index_t n, index_t r = 0);

  /// Inserts the update by new rows: A is m x n, B is m x r, both cut into the same tile rows. They must exist until
  /// the tasks have run. Throws ArgumentError, with nothing inserted, if shapes do not conform.
  void append(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TallSkinnyOptions& options = {});
  void append(Graph& g, const TileMatrix<T>& A, const TallSkinnyOptions& options = {});  ///< if r is 0
  /// Inserts the update by the rows of D [A | B]: D is m x 1, cut into the same tile rows, and holds the factors of the
  /// rows. A row whose factor is 0 is ignored, even if it contains NaN. A and B are only read.
  void append_scaled(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& D,
                     const TallSkinnyOptions& options = {});

  /// The solution of the rows so far.
  struct Solution {
    HostMatrix<T> x;  ///< n x r, or 0 x 0 if the status is not 0
    /// 0 if x is valid. k if R(k, k), counted from 1, is zero or not finite; rows() + 1 if there are fewer rows than
    /// unknowns: A is rank deficient in both cases. n + 1 if R is regular but x is not finite.
    Status status;
  };
  /// Returns X = R^-1 (Q^H B) for the rows so far. Waits for the updates. A nearly singular R is not reported; check
  /// its condition.
  Solution solve() const;

  /// Returns the r residual norms ||A x_k - b_k||_2 for the rows so far. Waits for the updates.
  std::vector<real_t<T>> residual_norms() const;

  index_t n() const { return n_; }
  index_t r() const { return r_; }
  index_t rows() const { return rows_; }  ///< number of rows so far

  /// Returns the triangle as one (n + r) x (n + r) tile, zeros below its diagonal. It has no contents before the first
  /// append.
  const TileMatrix<T>& triangle() const { return triangle_; }

 private:
  void append_tiles(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>* B, const TileMatrix<T>* D,
                    const TallSkinnyOptions& options);

  index_t n_, r_, rows_ = 0;
  bool empty_ = true;
  TileMatrix<T> triangle_;
};

}  // namespace tesela
