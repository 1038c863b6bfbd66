#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <memory>

namespace tesela {

/// Returns the tile shape for the Cholesky factorization of order n: squares, whose lower triangle does not move. Whole
/// tile rows for a matrix that fits the memory of one GPU and is small, or there already, not `from_host`. `complex`:
/// the matrix has complex elements. WorkerCounts have GPUs with memory enough.
TileShape cholesky_tile(const WorkerCounts& workers, index_t n, bool from_host = false);
TileShape cholesky_tile(const Runtime& runtime, index_t n, bool from_host = false, bool complex = false);

/// Returns the place where cholesky keeps tile (i, j) of an n x n matrix: a GPU. A tile that a task wrote at this place
/// need not move.
Priority cholesky_place(const WorkerCounts& workers, index_t n, TileShape tile, index_t i, index_t j);

/// Returns the memory that cholesky needs for order n, on the host and on GPUs, which are assumed to have equal shares;
/// without residues (docs/factorizations.md).
MemoryPlan plan_cholesky(const WorkerCounts& workers, index_t n, std::size_t element, TileShape tile);

/// The factorization A = R^H R of a symmetric or Hermitian positive definite matrix, R upper triangular with a positive
/// diagonal (LAPACK potrf): n^3 / 3 flops.
///
/// A       n x n. Its tiles are square, or wider by a whole number of their heights, or as wide as the matrix.
/// Method  Step k factors the diagonal block (potrf), solves for the rest of tile row k (trsm) and subtracts the
///         products of that row from the rows below. The row of the next diagonal block is updated first. With wide
///         tiles, diagonal blocks are factored in copies while earlier rows are updated. With GPUs the solves multiply
///         by inverses of diagonal blocks of order 512 (Du Croz and Higham 1992), and square tiles of order 2048 are
///         updated by residues (docs/gemm.md). A matrix of square tiles that exceeds the GPUs' memory is factored in
///         blocks of rows, one after the other (ColumnBlock).
template <class T>
class CholeskyFactorization {
 public:
  /// Inserts the tasks of the factorization. Waits for earlier blocks if there are several.
  CholeskyFactorization(Graph& g, const TileMatrix<T>& A);

  /// Returns the order of the first leading minor that is not positive or not finite; 0 if R is valid. Waits for the
  /// diagonal blocks.
  index_t minor() const;
  const TileMatrix<T>& r() const;

  /// Inserts X = A^-1 X (LAPACK potrs). X has n rows, in tiles as high as A's. Graph::wait() returns 1 + j if column j
  /// is the first column of X that is not finite, in the input or through overflow. Throws ArgumentError for another
  /// shape.
  void solve(Graph& g, const TileMatrix<T>& X) const;
  /// Inserts x = op(R(k, k))^-1 x for one tile.
  void solve_diagonal(Graph& g, const Priority& where, Op op, index_t k, const Tile<T>& x) const;

 private:
  struct Plan;
  std::shared_ptr<const Plan> plan_;
};

/// Inserts the factorization A = R^H R (LAPACK potrf).
///
/// A        n x n; the upper triangle is read and overwritten by R; imaginary parts of the diagonal are not read. The
///          strict lower triangle of diagonal blocks becomes zero; other tiles below the diagonal are not accessed. If
///          a minor is not positive, A is unusable.
/// Returns  the factorization, which shares A's tiles.
/// Throws   ArgumentError if A is not square or its tiles have another shape than CholeskyFactorization describes.
template <class T>
CholeskyFactorization<T> cholesky(Graph& g, const TileMatrix<T>& A);

}  // namespace tesela
