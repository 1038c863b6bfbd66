#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/tiles/tile_matrix.hpp>

// What detectors of all kinds begin with. Internal to algorithms/mimo.

namespace tesela::mimo {

[[noreturn]] void refuse(const std::string& argument, const std::string& why);

/// The lists that kernels read.
struct SearchLists {
  bool real_form = false;
  int labels = 0;
  HostMatrix<kernels::SearchColumn> columns;
  HostMatrix<kernels::SearchPoint> points;
};
SearchLists lists_of(const std::vector<Constellation>& alphabets, SearchForm form);

/// Throws ArgumentError for shapes that disagree and for numbers that are not finite, with their place.
template <class T>
void check_model(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets);

/// Whole channels, or a whole part of one, where that is possible: about as many signals as are wanted.
index_t fit_batch(index_t wanted, const MimoShape& shape);

/// The inputs in tiles, one a task, while the host's memory lives.
template <class T>
struct SearchTiles {
  SearchTiles(Runtime& runtime, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
              const HostMatrix<std::complex<T>>& received, const SearchLists& lists, index_t wanted);
  MimoShape shape;
  index_t batch, together;  ///< signals and channels of a task
  index_t coherence;        ///< within a task
  TileMatrix<std::complex<T>> h, y;
  TileMatrix<kernels::SearchColumn> columns;
  TileMatrix<kernels::SearchPoint> points;
  Tile<std::complex<T>> channels(index_t task) const { return h(0, shape.channel_of(task * batch) / together); }
};

}  // namespace tesela::mimo
