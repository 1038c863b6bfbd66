#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <cstdint>

namespace tesela {

/// How a part of a matrix is copied.
struct Arrangement {
  index_t row = 0, column = 0;                         ///< first row and column of the part in A
  Op op = Op::none;                                    ///< whether it is transposed, or conjugated as well
  bool reverse_rows = false, reverse_columns = false;  ///< order of rows and columns in the result
  bool padded = false;   ///< whether the part may end with A: B continues as the identity; not with reversed orders
  bool on_gpus = false;  ///< whether the tile columns of B are dealt to the GPUs; otherwise the scheduler chooses
};

/// Inserts B = the part of A from (row, column) on, as large as B, transposed or reversed as described. A and B may
/// have any tiles. Throws ArgumentError, with nothing inserted, if A is too small or shares tiles with B.
template <class T>
void rearrange(Graph& g, const TileMatrix<T>& A, const Arrangement& how, const TileMatrix<T>& B);

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
