#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela {

/// How a part of a matrix is laid out anew.
struct Arrangement {
  index_t row = 0, column = 0;                         ///< where the part begins in A
  Op op = Op::none;                                    ///< whether it is transposed
  bool reverse_rows = false, reverse_columns = false;  ///< of the result
};

/// B = the part of A from (row, column) on, transposed or not, in reverse order or not: as large as B is, whatever the
/// tiles of both. Inserts into the graph and returns. Throws ArgumentError, with nothing inserted, where A ends before,
/// and where B shares tiles with A.
template <class T>
void rearrange(Graph& g, const TileMatrix<T>& A, const Arrangement& how, const TileMatrix<T>& B);

}  // namespace tesela
