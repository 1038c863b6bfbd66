#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/size_checks.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <string>

namespace tesela {

/// Throws ArgumentError unless A is one tridiagonal matrix of n equations with diagonals n x 1, and B is n x any.
template <class T>
void require_one_system(const char* routine, const Tridiagonal<T>& A, const TileMatrix<T>& B) {
  const auto require = [&](const char* name, const TileMatrix<T>& diagonal) {
    if (diagonal.m() != B.m() || diagonal.n() != 1)
      throw ArgumentError(routine, name,
                          to_string(Shape{diagonal.m(), diagonal.n()}) + ", and B has " + std::to_string(B.m()) +
                              " rows; it must be " + to_string(Shape{B.m(), 1}));
    if (diagonal.shares_tiles(B)) throw ArgumentError(routine, name, "shares tiles with B");
  };
  require("A.dl", A.dl);
  require("A.d", A.d);
  require("A.du", A.du);
}

}  // namespace tesela
