#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>

namespace tesela {

/// What of a matrix is looked at: all of it, or what is on and above its diagonal, or on and below.
enum class FinitePart : std::uint8_t { all, upper, lower };

/// Inserts a task for each tile, where the tile is then, that looks for NaN and infinities: Graph::wait() says 1 + j
/// where column j is the first that has one. Products and orthogonal factors hand on what is no number, so that the
/// result tells of the operands as well. m n reads.
template <class T>
void report_not_finite(Graph& g, const TileMatrix<T>& A, FinitePart part = FinitePart::all);

}  // namespace tesela
