#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

namespace tesela {

/// How cyclic reduction keeps its rows, and who ends it.
enum class CyclicReduction : std::uint8_t {
  plain,      ///< in place, rows 2, 4, 8, … apart
  shared,     ///< the same; on a GPU a block brings its rows to shared memory first
  coalesced,  ///< each step reads one place and writes another, without gaps: twice the storage
  hybrid,     ///< plain until `cut` unknowns are left, which Thomas's method solves on a core
};

struct CyclicReductionOptions {
  CyclicReduction variant = CyclicReduction::plain;
  index_t cut = 256;        ///< of hybrid
  bool gpu_only = false;    ///< where there is a GPU, no core reduces or substitutes
  bool cores_only = false;  ///< no GPU does
};

/// B <- X where A X = B, by cyclic reduction (Hockney): each step adds to every second equation multiples of its two
/// neighbours that leave half as many unknowns, until one is left, and then substitutes back; O(n) work in 2 log2(n)
/// steps, without pivoting, as thomas(). A's diagonals are n x 1, B is n x r, all in tiles of the same number of rows.
/// A tile is reduced by one task, as often as its number of rows can be halved (16 times for 65536 rows) where there
/// are several; what they leave is gathered and solved as one tile: choose a power of two, or one tile. A is not
/// changed, and its dl(0) and du(n - 1) are not read. Inserts into the graph and returns, and its work space, 1.5 n or
/// (3 + r) n elements, lives as long as the graph. Graph::wait() says i + 1 when equation i has a zero diagonal where
/// it is eliminated, or when something there is not finite (B is worthless then). Throws, with nothing inserted,
/// ArgumentError when shapes do not fit or gpu_only and cores_only are both set, and NoWorkerError for hybrid or
/// cores_only without a core.
template <class T>
void cyclic_reduction(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                      const CyclicReductionOptions& options = {});

}  // namespace tesela
