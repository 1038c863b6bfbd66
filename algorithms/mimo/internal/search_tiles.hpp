#pragma once

#include <tesela/algorithms/mimo/mimo_detect.hpp>
#include <tesela/algorithms/mimo/search_lists.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

// Names, checks and tiles that all detectors share. Internal to algorithms/mimo.

namespace tesela::mimo {

/// Returns the names of a table's rows.
template <class Row, std::size_t N>
constexpr auto named(const Row (&rows)[N]) {
  std::array<Named<decltype(Row::value)>, N> made{};
  for (std::size_t k = 0; k < N; ++k) made[k] = {rows[k].value, rows[k].name, rows[k].about};
  return made;
}

/// Returns "a, b, c" for the names of a table's rows.
template <class Rows>
std::string list_names(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

[[noreturn]] void refuse(const std::string& argument, const std::string& why);

/// Throws for orders of signals; `who`, such as "lists accept", begins the list of the accepted orders.
void require_fixed_order(ColumnOrder order, const std::string& who);

/// A text such as "kbest:16" in two parts.
struct NumberedName {
  std::string name;
  bool colon = false;
  std::optional<index_t> number;  ///< empty if there is no number after the colon
};
NumberedName split_number(const std::string& text);

/// Throws ArgumentError for shapes that do not conform.
template <class T>
void check_shapes(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                  const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets);

/// Throws ArgumentError, with the place, if a number in columns first … first + count - 1 is not finite.
template <class T>
void require_finite(const char* argument, const HostMatrix<std::complex<T>>& a, index_t first, index_t count);

/// Runs check_shapes, and require_finite for all numbers.
template <class T>
void check_model(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets);

/// Throws ArgumentError as mimo_detect, except for numbers that are not finite.
template <class T>
void check_search(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                  const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets,
                  const MimoOptions& options);
/// Returns the radius of the first sphere; 0: infinite.
double search_radius(const MimoShape& shape, const MimoOptions& options);

/// Returns about `wanted` signals per task: a multiple or a divisor of the coherence if possible.
index_t fit_batch(index_t wanted, const MimoShape& shape);

/// Returns the signals per task for methods that run only on cores.
index_t batch_on_cores(const MimoShape& shape);

/// The inputs in tiles, one per task; the host's memory must outlive them.
template <class T>
struct SearchTiles {
  SearchTiles(Runtime& runtime, const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
              const HostMatrix<std::complex<T>>& received, const SearchLists& lists, index_t wanted);
  MimoShape shape;
  index_t batch, together;  ///< signals per task, and channels per task
  index_t coherence;        ///< coherence within a task
  TileMatrix<std::complex<T>> h, y;
  TileMatrix<kernels::SearchColumn> columns;
  TileMatrix<kernels::SearchPoint> points;
  index_t block_of(index_t task) const { return shape.channel_of(task * batch) / together; }
  Tile<std::complex<T>> channels(index_t task) const { return h(0, block_of(task)); }
};

}  // namespace tesela::mimo
