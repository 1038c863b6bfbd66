#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

using kernels::SystemsIn;

/// Options of tridiagonal_solve.
struct TridiagonalOptions {
  SystemsIn systems = SystemsIn::columns;
  /// Whether dl of the first row couples to the last unknown, and du of the last row to the first.
  bool periodic = false;
  /// Whether to scale the columns of A, then its rows, by powers of two before pivots are chosen
  /// (TridiagonalExponents): for columns whose units differ much, such as by 1e150. Needs copies of A's bands and at
  /// least one core.
  bool equilibrate = false;
  /// On a GPU, for a long system of real numbers in one tile and in columns: reads rows once if unknowns depend only on
  /// near ones, as in a diagonally dominant A. The solver detects this; otherwise it adds two passes after the lost
  /// attempt.
  bool one_pass = false;
};

/// Inserts the solution B = A^-1 B of k tridiagonal systems of n equations with scaled partial pivoting (LAPACK gtsv).
///
/// A       one matrix per system, of B's shape and tiles; or one matrix for all systems (n x 1, or 1 x n with systems
///         in rows) with B's tiles along the systems. Only read.
/// B       n x k, or k x n with systems in rows; overwritten by X.
/// Status  Graph::wait() returns i + 1 + n s if equation i of system s shows that the system is singular or not finite.
///         X of that system is undefined, the others are valid.
/// Throws  ArgumentError, with nothing inserted, if shapes do not conform.
/// Method  Reduction and substitution of row blocks. One task solves a system in one tile. Several tiles are reduced
///         concurrently to two equations each; one small task solves these, and then the tiles substitute.
template <class T>
void tridiagonal_solve(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                       const TridiagonalOptions& options = {});

}  // namespace tesela
