#pragma once

#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/tiles/size_checks.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>
#include <utility>

namespace tesela::detail {

/// Throws ArgumentError unless A and B have one order and square tiles of one size.
template <class T>
void require_square_pair(const char* routine, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  const auto refuse = [&](const char* argument, const std::string& why) {
    throw ArgumentError(routine, argument, why);
  };
  for (const auto& [M, name] : {std::pair{&A, "A"}, std::pair{&B, "B"}}) {
    const auto [mb, nb] = M->tile_shape();
    if (M->m() != M->n() || (M->nt() > 1 && mb != nb) || M->mt() > M->nt())
      refuse(name, to_string(Shape{M->m(), M->n()}) + "; it must be square, in square tiles");
    require_blas_sizes(routine, name, *M);
  }
  if (A.n() != B.n()) refuse("B", "has order " + std::to_string(B.n()) + "; A has order " + std::to_string(A.n()));
  if (A.nt() != B.nt() || (A.nt() > 1 && A.tile_shape().nb != B.tile_shape().nb))
    refuse("B", "its tiles have another size than A's");
}

}  // namespace tesela::detail
