#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>

namespace tesela {

/// The factorization P D A = L U of one tridiagonal matrix (LAPACK gttrf) for any number of right-hand sides and time
/// steps: scaled partial pivoting, D powers of two that bring A's rows to one size. One task factors A. One task solves
/// a tile of right-hand sides with 8 flops per unknown, without A. Systems are solved concurrently, in vector lanes or
/// GPU threads, complex ones one by one on cores, each row by row; for few long systems tridiagonal_solve is faster.
template <class T>
class TridiagonalFactorization {
 public:
  /// Inserts the factorization of A, which is not needed afterwards. The diagonals are n x 1 or 1 x n, one tile each.
  /// dl of the first row and du of the last row are not read. Graph::wait() returns i + 1 if equation i shows that A is
  /// singular or not finite. Throws ArgumentError if shapes or tiles do not conform.
  TridiagonalFactorization(Graph& g, const Tridiagonal<T>& A);

  index_t n() const { return n_; }  ///< order of A

  /// Inserts B = A^-1 B (LAPACK gttrs), in any graph of the same runtime.
  ///
  /// B       n x k, or k x n with systems in rows; each tile, which is one task, must hold whole systems.
  /// Status  Graph::wait() returns the status of the factorization if that failed; otherwise i + 1 + n s if unknown i
  ///         of system s is not finite. Only the systems of one tile are affected.
  /// Throws  ArgumentError, with nothing inserted, if B does not conform.
  void solve(Graph& g, const TileMatrix<T>& B, SystemsIn systems = SystemsIn::columns) const;

 private:
  index_t n_;
  TileMatrix<T> factors_;
  TileMatrix<int> status_;
};

}  // namespace tesela
