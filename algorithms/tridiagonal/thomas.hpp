#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

/// Inserts the solution B = A^-1 B by elimination without pivoting (Thomas), row after row on one core: the baseline of
/// parallel methods, stable for diagonally dominant and symmetric positive definite A.
///
/// A       its diagonals are n x 1; only read. dl(0) and du(n - 1) are not read.
/// B       n x r; overwritten by X. A and B may have any tiles; several tiles along the columns are gathered first.
/// Status  Graph::wait() returns i + 1 if equation i has a zero pivot, or a number there is not finite. B is undefined
///         then.
/// Throws  ArgumentError, with nothing inserted, if shapes do not conform.
template <class T>
void thomas(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B);

/// Inserts the solution by LAPACK's gtsv, with partial pivoting. Throws ArgumentError also if n exceeds LAPACK's
/// integers.
template <class T>
void gtsv(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B);

}  // namespace tesela
