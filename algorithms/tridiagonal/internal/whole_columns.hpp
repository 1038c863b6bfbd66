#pragma once

#include <tesela/codelets/tridiagonal/gather_rows.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>
#include <tesela/tiles/tile_matrix.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <utility>
#include <vector>

// For methods that need whole columns of matrices in any tiles.

namespace tesela::detail {

/// Returns column j of tiles as one tile. `which` numbers the copies of several matrices.
template <class T>
Tile<T> whole_column(Graph& g, const TileMatrix<T>& A, index_t j, index_t which) {
  constexpr index_t first_scratch = 1 << 21;  // beyond the numbers that kernels request
  if (A.mt() == 1) return A(0, j);
  std::vector<Tile<T>> tiles;
  for (index_t i = 0; i < A.mt(); ++i) tiles.push_back(A(i, j));
  const Tile<T> whole = g.scratch<T>(A.m(), tiles.front().cols(), first_scratch + which);
  g.insert<kernels::GatherRows<T>>({}, whole, tiles);
  return whole;
}

/// Inserts the copy of `whole` back to B's tiles, unless it is one of them.
template <class T>
void extract_rows(Graph& g, const Tile<T>& whole, const TileMatrix<T>& B, index_t j) {
  for (index_t i = 0; B.mt() > 1 && i < B.mt(); ++i)
    g.insert<kernels::ExtractRows<T>>({i * B.tile_shape().mb}, whole, B(i, j));
}

/// Throws ArgumentError unless A is one tridiagonal matrix of n equations with diagonals n x 1, and B is n x any.
template <class T>
void require_one_system(const char* routine, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  for (const auto& [name, diagonal] : {std::pair{"A.dl", &A.dl}, std::pair{"A.d", &A.d}, std::pair{"A.du", &A.du}}) {
    require(diagonal->m() == B.m() && diagonal->n() == 1, routine, name, *diagonal, ", and B has ", B.m(),
            " rows; it must be ", Shape{B.m(), 1});
    require(!diagonal->shares_tiles(B), routine, name, "shares tiles with B");
  }
}

}  // namespace tesela::detail
