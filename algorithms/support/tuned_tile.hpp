#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Tile of an algorithm for one shape on one set of workers, found by `tesela tune`.
struct TunedTile {
  std::string algorithm;  ///< qr, cholesky or lu
  int cores, gpus;        ///< workers
  Shape shape;            ///< of A
  TileShape tile;         ///< the tile to cut A into
};

/// Returns the path of the file with tuned tiles: TESELA_TUNED, or tesela/tuned.csv in the user's folder of settings.
/// Empty if neither is known.
std::string tuned_tiles_path();
/// Reads such a file, CSV with a line for each tile. Returns nothing if it does not exist. Throws FileError for a wrong
/// line.
std::vector<TunedTile> read_tuned_tiles(const std::string& path);
/// Returns the tiles as CSV.
std::string to_csv(const std::vector<TunedTile>& tiles);

/// Returns the tile that the file has for this algorithm, shape and workers. Reads the file at the first use.
std::optional<TileShape> tuned_tile(const char* algorithm, const WorkerCounts& workers, Shape shape);

}  // namespace tesela
