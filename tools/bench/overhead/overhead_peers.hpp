#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/tiles/tile_matrix.hpp>

namespace tesela::bench {

/// A graph of tasks that do nothing.
struct OverheadCase {
  index_t tasks = 0;
  int tiles = 1;        ///< of each task, 1 or 3; the last one is read and written, the others are read
  bool chained = true;  ///< every task writes the same tile; else task t writes tile t mod `groups`
  /// Time the insertions alone, in CPU time of the inserting thread, while the workers sleep: the layer's own cost,
  /// undisturbed by what else runs.
  bool insertion_only = false;
  static constexpr index_t groups = 512;
};

/// The tiles of both peers: two read tiles, then the written ones.
class OverheadTiles {
 public:
  explicit OverheadTiles(Runtime& runtime) : matrix_(runtime, 1, 2 + OverheadCase::groups, {1, 1}, "T") {}
  void clear(Runtime& runtime);
  Tile<double> read(int which) const { return matrix_(0, which); }
  Tile<double> written(const OverheadCase& what, index_t task) const {
    return matrix_(0, 2 + (what.chained ? 0 : task % OverheadCase::groups));
  }

 private:
  TileMatrix<double> matrix_;
};

/// The graph through our layer, and by starpu_task_insert: insertion and execution timed unless insertion_only.
Peer tesela_overhead(Runtime& runtime, const OverheadTiles& tiles, const OverheadCase& what);
Peer starpu_overhead(const OverheadTiles& tiles, const OverheadCase& what);

}  // namespace tesela::bench
