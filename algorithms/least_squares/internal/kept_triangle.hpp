#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// An upper triangle R, n x n, n > 0, in one tile that stays where it was made, on a GPU where there is one: vectors
/// come and go. Calls wait for their own results, not for the rest of the graph.
template <class T>
class KeptTriangle {
 public:
  /// Of a QR factorization whose R lies in one row of tiles, as factors.factors() has it. Inserts tasks.
  static KeptTriangle of_qr(Graph& g, const TileMatrix<T>& factors);
  /// Of any tiles with zeros below the diagonal, in the one tile of `whole`. Inserts tasks.
  static KeptTriangle of_tiles(Graph& g, const TileMatrix<T>& R, TileMatrix<T> whole);

  /// X = op(R)^-1 X, and X = (R^T R)^-1 X.
  void solve(Graph& g, Op op, HostMatrix<T>& X) const;
  void solve_normal(Graph& g, HostMatrix<T>& X) const;
  /// Inserts X = op(R)^-1 X.
  void insert_solve(Graph& g, Op op, const Tile<T>& X) const;
  /// op(R) X.
  HostMatrix<T> product(Graph& g, Op op, const HostMatrix<T>& X) const;
  /// Of each column: not finite, or the largest number, where one is not finite.
  std::vector<T> norms(Graph& g) const;
  /// An estimate of the largest over the smallest singular value of R with its columns divided by `norms`: four steps
  /// of the power method with R^T R and its inverse, on three vectors. NaN or infinite where R is singular.
  double condition(Graph& g, const std::vector<T>& norms) const;

 private:
  KeptTriangle(Graph& g, TileMatrix<T> R);
  TileMatrix<T> r_, inverses_;
};

/// X in one tile.
template <class T>
TileMatrix<T> one_tile(Graph& g, const HostMatrix<T>& X, const char* name);

/// op(A) X for an A of one tile. Waits for it alone.
template <class T>
HostMatrix<T> tile_product(Graph& g, Op op, const TileMatrix<T>& A, const HostMatrix<T>& X);

/// A vector of no pattern that a triangle could have, of norm 1, in each column.
template <class T>
HostMatrix<T> probes(index_t n, index_t count);

/// By what the fastest column has grown, and each column divided by its norm.
template <class T>
double take_growth(HostMatrix<T>& X);

}  // namespace tesela::detail
