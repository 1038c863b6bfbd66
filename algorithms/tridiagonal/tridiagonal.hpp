#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

using kernels::SystemsIn;

struct TridiagonalOptions {
  SystemsIn systems = SystemsIn::columns;
  bool periodic = false;  ///< dl of the first row couples to the last unknown, du of the last row to the first
  /// Scale the columns of A, then its rows, by powers of two before pivots are chosen (TridiagonalExponents): for
  /// columns of units that differ by far, as 1e+-150 does. Takes copies of A's bands, and is done by cores, of which
  /// the runtime must have one.
  bool equilibrate = false;
  /// On a GPU, a long system in one tile and in columns: rows are read once if unknowns depend on near ones only, as
  /// where A is diagonally dominant. This is found out; where it is not so, two passes follow, and the attempt is lost.
  bool one_pass = false;
};

/// B <- X where A X = B (LAPACK's gtsv): k systems of n equations, by reduction and substitution of row blocks with
/// scaled partial pivoting. A is as large as B, one matrix for each system, or a single matrix for all of them (n x 1,
/// or 1 x n with systems in rows). A's tiles are B's along the systems and, unless A is single, across them. One tile
/// along the systems is solved by one task; more of them are reduced side by side to two equations each, which one
/// small task solves, and then filled in. A is not changed. Inserts into the graph and returns; Graph::wait() says i +
/// 1 + n s when equation i of system s showed that the system is singular or not finite (its X is worthless then; the
/// others' are good). Throws ArgumentError, with nothing inserted, when shapes do not fit.
template <class T>
void tridiagonal_solve(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                       const TridiagonalOptions& options = {});

}  // namespace tesela
