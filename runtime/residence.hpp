#pragma once

#include <tesela/runtime/data.hpp>

// Places of tiles, for algorithms on matrices that are larger than the GPUs' memory.

namespace tesela {

namespace detail {
void wait_for_writes(Data&);
bool lives_on_gpu(const Data&);
}  // namespace detail

/// Waits for the tasks inserted so far that write the tile, which stays where it is. An algorithm that inserts more
/// tasks afterwards limits the number of tiles in use.
template <class T>
void wait_for_writes(const Tile<T>& tile) {
  detail::wait_for_writes(tile.data());
}

/// Returns whether the user has mapped the tile in a GPU's memory (TileMatrix::map_device).
template <class T>
bool lives_on_gpu(const Tile<T>& tile) {
  return detail::lives_on_gpu(tile.data());
}

}  // namespace tesela
