#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>

namespace tesela {

/// P D A = L U (LAPACK's gttrf) of one tridiagonal matrix, kept and reused for any number of right-hand sides and time
/// steps: scaled partial pivoting, D being powers of two that bring A's rows to one size. Factoring is one task, and
/// the solve of a tile of right-hand sides is another, which takes 8 flops an unknown and reads A no more. Systems are
/// solved side by side, a lane of a vector or a thread of a GPU each; within one it goes row by row, so that a few long
/// systems are better left to tridiagonal_solve.
template <class T>
class TridiagonalFactorization {
 public:
  /// Inserts the factorization of A, whose diagonals are n x 1 or 1 x n, one tile each, and which is not needed
  /// afterwards. dl of the first row and du of the last are not read. Graph::wait() says i + 1 when equation i showed
  /// that A is singular or not finite. Throws ArgumentError when shapes or tiles do not fit.
  TridiagonalFactorization(Graph& g, const Tridiagonal<T>& A);

  index_t n() const { return n_; }

  /// B <- A^-1 B (LAPACK's gttrs): B is n x k, or k x n with systems in rows. Inserts a task for each tile, which must
  /// hold whole systems, and returns; the graph may be any of the runtime that A was factored in. Graph::wait() says
  /// what the factorization did if that failed, else i + 1 + n s when unknown i of system s is not finite (the status
  /// of one tile: others' systems are good). Throws ArgumentError, with nothing inserted, when B does not fit.
  void solve(Graph& g, const TileMatrix<T>& B, SystemsIn systems = SystemsIn::columns) const;

 private:
  index_t n_;
  TileMatrix<T> factors_;
  TileMatrix<int> status_;
};

}  // namespace tesela
