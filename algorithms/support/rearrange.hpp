#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// How a part of a matrix is copied.
struct Arrangement {
  index_t row = 0, column = 0;                         ///< first row and column of the part in A
  Op op = Op::none;                                    ///< whether it is transposed
  bool reverse_rows = false, reverse_columns = false;  ///< order of rows and columns in the result
};

/// Inserts B = the part of A from (row, column) on, as large as B, transposed or reversed as described. A and B may
/// have any tiles. Throws ArgumentError, with nothing inserted, if A is too small or shares tiles with B.
template <class T>
void rearrange(Graph& g, const TileMatrix<T>& A, const Arrangement& how, const TileMatrix<T>& B);

}  // namespace tesela
