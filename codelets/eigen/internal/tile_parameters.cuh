#pragma once

#include <tesela/runtime/access.hpp>

#include <algorithm>
#include <span>

// Tiles and lists of them in kernel parameters. Internal to codelets/.

namespace tesela::kernels {

template <class T>
__device__ T& entry(const Block<T>& block, index_t i, index_t j) {
  return block.data[i + j * block.ld];
}

/// The tiles of a list that one launch can have as parameters, counted on from the previous tiles by rows or by
/// columns.
template <class T>
struct TileParameters {
  static constexpr int most = 64;
  struct Part {
    const T* data;
    index_t ld, first, count;
  };
  Part part[most];
  int parts;
  bool the_first;  // first launch of the list
};

/// Calls launch(some) for the tiles of the list, in groups; count(tile) is the tile's number of rows or columns.
template <class T, class Count, class Launch>
void launch_by_tile_groups(std::span<const In<T>> list, const Count& count, const Launch& launch) {
  index_t first = 0;
  for (std::size_t begin = 0; begin < list.size(); begin += TileParameters<T>::most) {
    TileParameters<T> some{};
    some.the_first = begin == 0;
    for (const In<T>& tile : list.subspan(begin, std::min<std::size_t>(TileParameters<T>::most, list.size() - begin))) {
      some.part[some.parts++] = {tile.data, tile.ld, first, count(tile)};
      first += count(tile);
    }
    launch(some);
  }
}

/// Calls f(part, i) for i < count of each part; each part has its own row of blocks.
template <class T, class F>
__global__ void each_of_parts(const __grid_constant__ TileParameters<T> tiles, F f) {
  const typename TileParameters<T>::Part& part = tiles.part[blockIdx.y];
  for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < part.count; i += gridDim.x * index_t{blockDim.x})
    f(part, i);
}

template <class T, class Count, class F>
void each_of(CUstream_st* stream, std::span<const In<T>> list, const Count& count, const F& f) {
  launch_by_tile_groups(list, count, [&](const TileParameters<T>& some) {
    index_t most = 0;
    for (int p = 0; p < some.parts; ++p) most = std::max(most, some.part[p].count);
    const dim3 blocks(static_cast<unsigned>(std::clamp<index_t>(ceil_div(most, 256), 1, 1024)),
                      static_cast<unsigned>(some.parts));
    each_of_parts<<<blocks, 256, 0, stream>>>(some, f);
  });
}

template <class T>
struct StackColumns {
  T* to;
  index_t ld, columns;
  __device__ void operator()(const typename TileParameters<T>::Part& part, index_t i) const {
    for (index_t c = 0; c < columns; ++c) to[part.first + i + c * ld] = part.data[i + c * part.ld];
  }
};

/// Copies the first columns of tiles, one tile below the other.
template <class T>
void stack_columns(CUstream_st* stream, std::span<const In<T>> list, index_t columns, const Block<T>& to) {
  each_of(
      stream, list, [](const In<T>& tile) { return tile.rows; }, StackColumns<T>{to.data, to.ld, columns});
}

}  // namespace tesela::kernels
