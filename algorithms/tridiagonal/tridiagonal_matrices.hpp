#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>

namespace tesela {

using kernels::TridiagonalKind;

/// Returns the kinds with their names and descriptions.
std::span<const Named<TridiagonalKind>> tridiagonal_kinds();

/// Inserts generated matrices, one in each column of A, or in each row (see TridiagonalKind). Only near_singular
/// depends on options.periodic. Throws ArgumentError if the diagonals differ in shape or tiles.
template <class T>
void fill(Graph& g, const Tridiagonal<T>& A, TridiagonalKind kind, std::uint64_t seed,
          const TridiagonalOptions& options = {});

/// Inserts B = A X (LAPACK lagtm) for k systems of n equations.
///
/// A       of X's shape and tiles, or one matrix for all systems with X's tiles along the systems. dl of the first row
///         and du of the last row are read only if the systems are periodic.
/// X, B    n x k or, with systems in rows, k x n, in equal tiles.
/// Throws  ArgumentError, with nothing inserted, if shapes or tiles do not conform.
template <class T>
void tridiagonal_multiply(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const TileMatrix<T>& B,
                          const TridiagonalOptions& options = {});

}  // namespace tesela
