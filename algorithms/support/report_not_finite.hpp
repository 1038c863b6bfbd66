#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>

namespace tesela {

/// The checked part of a matrix.
enum class FinitePart : std::uint8_t {
  all,    ///< all elements
  upper,  ///< on and above the diagonal
  lower   ///< on and below the diagonal
};

/// Inserts a task for each tile, at the tile's place, that looks for NaN and infinities. Graph::wait() returns 1 + j if
/// column j is the first column with one. Products and orthogonal factors propagate NaN, so that checking a result also
/// checks its operands. m n reads.
template <class T>
void report_not_finite(Graph& g, const TileMatrix<T>& A, FinitePart part = FinitePart::all);

}  // namespace tesela
