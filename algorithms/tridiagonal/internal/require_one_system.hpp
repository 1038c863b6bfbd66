#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <utility>

namespace tesela {

/// Throws ArgumentError unless A is one tridiagonal matrix of n equations with diagonals n x 1, and B is n x any.
template <class T>
void require_one_system(const char* routine, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  for (const auto& [name, diagonal] : {std::pair{"A.dl", &A.dl}, std::pair{"A.d", &A.d}, std::pair{"A.du", &A.du}}) {
    require(diagonal->m() == B.m() && diagonal->n() == 1, routine, name, *diagonal, ", and B has ", B.m(),
            " rows; it must be ", Shape{B.m(), 1});
    require(!diagonal->shares_tiles(B), routine, name, "shares tiles with B");
  }
}

}  // namespace tesela
