#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

/// Storage of the rows in cyclic reduction, and its last step.
enum class CyclicReduction : std::uint8_t {
  plain,      ///< in place, rows 2, 4, 8, … apart; the default
  shared,     ///< in place; on a GPU a block copies its rows to shared memory first
  coalesced,  ///< each step reads one array and writes another, without gaps: twice the storage
  hybrid,     ///< plain down to `cut` unknowns, which Thomas's method solves on a core
};

/// Options of cyclic_reduction.
struct CyclicReductionOptions {
  CyclicReduction variant = CyclicReduction::plain;
  index_t cut = 256;        ///< for hybrid: unknowns that a core solves
  bool gpu_only = false;    ///< with a GPU, no core reduces or substitutes
  bool cores_only = false;  ///< no GPU reduces or substitutes
};

/// Inserts the solution B = A^-1 B by cyclic reduction without pivoting (Hockney): O(n) work in 2 log2(n) steps.
///
/// A       its diagonals are n x 1; only read. dl(0) and du(n - 1) are not read.
/// B       n x r, in tiles with as many rows as A's; overwritten by X.
/// Status  Graph::wait() returns i + 1 if equation i has a zero diagonal at its elimination, or a number there is not
///         finite. B is undefined then.
/// Throws  ArgumentError, with nothing inserted, if shapes do not conform or gpu_only and cores_only are both set;
///         NoWorkerError for hybrid or cores_only without a core.
/// Method  Each step adds to every second equation multiples of its two neighbours, which halves the number of
///         unknowns; then it substitutes back. A matrix of several tiles: one task reduces a tile as often as its
///         number of rows can be halved (16 times for 65536 rows); the remaining equations of all tiles are gathered
///         and solved as one tile. Therefore choose a power of two, or one tile. The work space, 1.5 n or (3 + r) n
///         elements, exists as long as the graph.
template <class T>
void cyclic_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                      const CyclicReductionOptions& options = {});

}  // namespace tesela
