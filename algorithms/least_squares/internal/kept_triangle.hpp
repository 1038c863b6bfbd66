#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::detail {

/// An upper triangle R, n x n, n > 0, in one tile that is not moved (on a GPU if there is one); only vectors travel.
/// Calls wait for their own results, not for the rest of the graph.
template <class T>
class ResidentTriangle {
 public:
  /// Inserts tasks that copy R from a QR factorization whose R lies in one tile row (factors.factors()).
  static ResidentTriangle of_qr(Graph& g, const TileMatrix<T>& factors);
  /// Inserts tasks that copy R from tiles with zeros below the diagonal into the single tile of `whole`.
  static ResidentTriangle of_tiles(Graph& g, const TileMatrix<T>& R, TileMatrix<T> whole);

  /// Compute X = op(R)^-1 X, and X = (R^H R)^-1 X.
  void solve(Graph& g, Op op, HostMatrix<T>& X) const;
  void solve_normal(Graph& g, HostMatrix<T>& X) const;
  /// Inserts X = op(R)^-1 X.
  void insert_solve(Graph& g, Op op, const Tile<T>& X) const;
  /// Returns op(R) X.
  HostMatrix<T> product(Graph& g, Op op, const HostMatrix<T>& X) const;
  /// Returns the norms of the columns. The norm of a column that is not finite is not finite or the largest number.
  std::vector<real_t<T>> norms(Graph& g) const;
  /// Estimates the ratio of the largest to the smallest singular value of R with its columns divided by `norms`, by
  /// four steps of the power method with R^H R and its inverse on three vectors. NaN or infinite if R is singular.
  double condition(Graph& g, const std::vector<real_t<T>>& norms) const;

 private:
  ResidentTriangle(Graph& g, TileMatrix<T> R);
  TileMatrix<T> r_, inverses_;
};

/// Returns X in one tile.
template <class T>
TileMatrix<T> one_tile(Graph& g, const HostMatrix<T>& X, const char* name);

/// Returns op(A) X for an A of one tile. Waits only for this product.
template <class T>
HostMatrix<T> tile_product(Graph& g, Op op, const TileMatrix<T>& A, const HostMatrix<T>& X);

/// Returns pseudorandom columns of norm 1.
template <class T>
HostMatrix<T> probes(index_t n, index_t count);

/// Divides each column by its norm; returns the largest norm.
template <class T>
double normalize_columns(HostMatrix<T>& X);

}  // namespace tesela::detail
