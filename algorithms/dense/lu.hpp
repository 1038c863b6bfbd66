#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <span>
#include <vector>

namespace tesela {

using kernels::Pivoting;

/// none and tournament, as a command calls them.
std::span<const Named<Pivoting>> pivotings();

/// Tiles that suit the machine for the LU factorization of order n: whole columns.
TileShape suitable_lu_tile(const Runtime& runtime, index_t n);

/// P A = L U, L unit lower and U upper triangular, n x n (LAPACK getrf): 2 n^3 / 3 flops. A's tiles are whole columns.
/// Step k factors tile column k by halves (Toledo 1997), with pivots on the diagonal or, 32 columns at a time, by a
/// tournament (CALU: Grigori, Demmel, Xiang 2011), and every column to the right is updated by one task: rows
/// exchanged, U = L^-1 A, A -= L U. The next panel's column comes first, so that panels are factored beside updates.
template <class T>
class LuFactorization {
 public:
  /// Inserts the tasks.
  LuFactorization(Graph& g, const TileMatrix<T>& A, Pivoting pivoting);

  /// The place, from 1, of the first pivot that is zero or not finite; 0 where there is none. Waits for the panels.
  index_t zero_pivot() const;
  /// L below the diagonal, U on and above it.
  const TileMatrix<T>& factors() const { return a_; }
  /// Which row of A became row i of P A, counted from 0. Waits for the panels.
  std::vector<index_t> rows() const;

  /// Inserts X = A^-1 X (LAPACK getrs), X in tiles of whole columns. Graph::wait() says 1 + j where column j of X is
  /// the first that is not finite: it was not before, or it overflowed. Rows of A of very different size can make
  /// products of U and X overflow although X does not: lu_solve scales such systems (RangeScaling).
  void solve(Graph& g, const TileMatrix<T>& X) const;

 private:
  TileMatrix<T> a_, inverses_;
  TileMatrix<int> swaps_;
  TileMatrix<double> zero_;
  Pivoting pivoting_;
};

/// Inserts the factorization of A, which L and U take. After a zero pivot A's contents are of no use. Throws
/// ArgumentError for a matrix that is not square or whose tiles are not whole columns.
template <class T>
LuFactorization<T> lu(Graph& g, const TileMatrix<T>& A, Pivoting pivoting = Pivoting::tournament);

}  // namespace tesela
