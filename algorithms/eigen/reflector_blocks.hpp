#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela {

/// Panels of reflectors side by side, I - V T V^H: V is (n - top) x columns with its zeros and ones.
template <class T>
struct ReflectorBlock {
  index_t top;           ///< first row
  index_t columns;       ///< columns in use
  TileMatrix<T> v;       ///< V
  TileMatrix<T> t;       ///< T of all columns
  TileMatrix<T> panels;  ///< T of each panel
  /// Allocates room for `room` columns in panels of `width` columns.
  ReflectorBlock(Runtime& runtime, index_t n, index_t first, index_t room, index_t width)
      : ReflectorBlock(first, TileMatrix<T>(runtime, n - first, room, {n - first, room}, "V"),
                       TileMatrix<T>(runtime, room, room, {room, room}, "T"),
                       TileMatrix<T>(runtime, width, room, {width, width}, "Tp")) {}
  /// Uses existing tiles.
  ReflectorBlock(index_t first, TileMatrix<T> of_v, TileMatrix<T> of_t, TileMatrix<T> of_panels)
      : top(first), columns(0), v(std::move(of_v)), t(std::move(of_t)), panels(std::move(of_panels)) {}
};

/// Returns the columns of a block for these workers. Products with Q by residues are faster with wide blocks.
index_t reflector_columns(const WorkerCounts& workers, index_t n, bool vectors);

/// Inserts the computation of a block's T from the T of its panels of `width` columns.
template <class T>
void join_reflectors(Graph& g, const ReflectorBlock<T>& block, index_t width);

/// Inserts X = Q X or, unless `op` is none, X = Q^H X for Q = the product of the blocks. X is n x any, in tiles of
/// whole columns.
template <class T>
void apply_reflectors(Graph& g, Op op, const std::vector<ReflectorBlock<T>>& blocks, const TileMatrix<T>& X);

}  // namespace tesela
