#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <memory>

namespace tesela {

/// Tiles that suit the machine for the Cholesky factorization of order n: with a GPU rows of tiles that are one tile
/// each, on cores squares.
TileShape suitable_cholesky_tile(const Runtime& runtime, index_t n);

/// A = R^T R with R upper triangular, for a symmetric positive definite matrix (LAPACK potrf): n^3 / 3 flops. A tile is
/// square, or wider by a whole number of its heights, or as wide as the matrix. With tiles of one height nb, step k
/// factors the diagonal block (potrf), solves for the rest of row k (trsm), and subtracts that row's products from the
/// rows below, of which the next one comes first: it holds the next diagonal block. With GPUs the solves multiply by
/// inverses of diagonal blocks of order 512 (Du Croz and Higham 1992).
template <class T>
class CholeskyFactorization {
 public:
  /// Inserts the tasks.
  CholeskyFactorization(Graph& g, const TileMatrix<T>& A);

  /// The order of the leading minor that is not positive, or not finite; 0 where R is good. Waits for it.
  index_t minor() const;
  const TileMatrix<T>& r() const { return r_; }

  /// Inserts X = A^-1 X (LAPACK potrs), X in tiles as high as A's. Graph::wait() says 1 + j where column j of X is the
  /// first that is not finite: it was not before, or it overflowed.
  void solve(Graph& g, const TileMatrix<T>& X) const;
  /// Inserts x = op(R(k, k))^-1 x for one tile, of which the columns from `column` on take part.
  void solve_diagonal(Graph& g, const Priority& where, Op op, index_t k, const Tile<T>& x, index_t column = 0) const;

 private:
  struct Block;  // of the diagonal: the tile that it lies in, and where
  Block block(index_t k) const;
  bool square() const;
  Priority home(index_t i, index_t j, int value = 0) const;
  Tile<T> diagonal(index_t k) const;
  void insert_diagonal(Graph& g, index_t k) const;

  TileMatrix<T> r_;
  TileMatrix<double> minor_;
  std::shared_ptr<const TileMatrix<T>> diagonals_, inverses_;  // copies where tiles are wide; where there are GPUs
};

/// Inserts the factorization of A, of which the upper triangle is read; R takes it, with zeros below the diagonal
/// inside the diagonal blocks, and other tiles below the diagonal are not touched. After a minor that is not positive
/// A's contents are of no use. Throws ArgumentError for matrices that are not square or tiles of other shapes.
template <class T>
CholeskyFactorization<T> cholesky(Graph& g, const TileMatrix<T>& A);

}  // namespace tesela
