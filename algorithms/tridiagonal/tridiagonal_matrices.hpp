#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>

namespace tesela {

using kernels::TridiagonalKind;

std::span<const Named<TridiagonalKind>> tridiagonal_kinds();

/// Writes generated matrices, one in each column of A, or in each row. The kinds are described at TridiagonalKind; of
/// the options near_singular alone minds whether the systems are periodic. Throws ArgumentError when the diagonals
/// differ in shape or tiles.
template <class T>
void fill(Graph& g, const Tridiagonal<T>& A, TridiagonalKind kind, std::uint64_t seed,
          const TridiagonalOptions& options = {});

/// B = A X (LAPACK's lagtm) for k systems of n equations, n x k or, with systems in rows, k x n. A is as large as X, or
/// a single matrix for all systems, and X, B and A have the same tiles along the systems and, unless A is single,
/// across them. dl of the first row and du of the last are read only where the systems are periodic. Throws
/// ArgumentError, with nothing inserted, when shapes or tiles do not fit.
template <class T>
void tridiagonal_multiply(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& X, const TileMatrix<T>& B,
                          const TridiagonalOptions& options = {});

}  // namespace tesela
