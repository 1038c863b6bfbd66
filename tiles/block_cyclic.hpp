#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela {

/// Rows `mb` and columns `nb` of a matrix's tiles; the last tile row and column may be smaller.
struct TileShape {
  index_t mb = 0;
  index_t nb = 0;
};

/// One dimension of ScaLAPACK's block-cyclic layout: `size` rows (or columns) in blocks, dealt cyclically to `parts`
/// rows of a grid; part number `part` stores its blocks without gaps. With parts = 1 it has everything.
struct CyclicPart {
  index_t size = 0, block = 1;
  int parts = 1, part = 0;

  /// count(): number of rows here (ScaLAPACK's numroc); before(k): number of them before row k of the whole.
  index_t count() const { return before(size); }
  index_t before(index_t k) const {
    const index_t blocks = k / block, cycles = blocks / parts, rest = blocks % parts;
    return cycles * block + (rest > part ? block : rest == part ? k % block : 0);
  }
  bool here(index_t k) const { return parts == 1 || k / block % parts == part; }
  /// Returns the row of the whole that is row l here.
  index_t global(index_t l) const { return parts == 1 ? l : (l / block * parts + part) * block + l % block; }
};

/// A rank's share of an m x n matrix: tile (i, j) belongs to the rank at row i mod P and column j mod Q of a P x Q
/// grid. ScaLAPACK's layout, for TileMatrix::map_block_cyclic.
struct BlockCyclic {
  CyclicPart rows, columns;  ///< the share by rows and by columns
  BlockCyclic(const Runtime& runtime, Shape whole, TileShape tile) {
    const auto [p, q] = runtime.grid();
    rows = {whole.rows, tile.mb, p, runtime.rank() / q};
    columns = {whole.cols, tile.nb, q, runtime.rank() % q};
  }
  /// Return the shape of the share and of the whole matrix.
  Shape local() const { return {rows.count(), columns.count()}; }
  Shape whole() const { return {rows.size, columns.size}; }
  /// Returns the rank with tile (i, j).
  int rank_of(index_t i, index_t j) const {
    return static_cast<int>(i % rows.parts) * columns.parts + static_cast<int>(j % columns.parts);
  }
  /// Return whether tile (i, j) and whether all tiles are here.
  bool here(index_t i, index_t j) const { return i % rows.parts == rows.part && j % columns.parts == columns.part; }
  bool all_here() const { return rows.parts * columns.parts == 1; }
};

}  // namespace tesela
