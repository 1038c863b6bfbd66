#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <optional>
#include <string>
#include <vector>

// What detectors of all kinds begin with. Internal to algorithms/mimo.

namespace tesela::mimo {

[[noreturn]] void refuse(const std::string& argument, const std::string& why);

/// Throws for gradient, su-wassell and best, which `who`, as "lists take", cannot use.
void refuse_orders_of_signals(ColumnOrder order, const std::string& who);

/// "kbest:16" in two.
struct NumberedName {
  std::string name;
  bool colon = false;
  std::optional<index_t> number;  ///< nothing where what follows the colon is none
};
NumberedName split_number(const std::string& text);

/// Of fsd, or a bound on them.
double fsd_paths(const std::vector<Constellation>& alphabets, index_t levels);
inline constexpr double most_fsd_paths = 1 << 20;

/// Throws ArgumentError for shapes that disagree.
template <class T>
void check_shapes(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                  const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets);

/// Throws ArgumentError where a number of columns first … first + count - 1 is not finite, with its place.
template <class T>
void require_finite(const char* argument, const HostMatrix<std::complex<T>>& a, index_t first, index_t count);

/// Both, of all numbers.
template <class T>
void check_model(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets);

/// All that mimo_detect refuses but numbers that are not finite.
template <class T>
void check_search(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                  const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                  const MimoOptions& options);
/// Of the first sphere, 0: without end.
double search_radius(const MimoShape& shape, const MimoOptions& options);

/// Whole channels, or a whole part of one, where that is possible: about as many signals as are wanted.
index_t fit_batch(index_t wanted, const MimoShape& shape);

/// Signals of a task that only cores can run.
index_t batch_on_cores(const MimoShape& shape);

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
  index_t block_of(index_t task) const { return shape.channel_of(task * batch) / together; }
  Tile<std::complex<T>> channels(index_t task) const { return h(0, block_of(task)); }
};

}  // namespace tesela::mimo
