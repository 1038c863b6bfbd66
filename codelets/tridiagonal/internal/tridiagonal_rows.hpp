#pragma once

#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <cmath>
#include <type_traits>

// Rows of a tridiagonal tile for the kernels of cores. Internal to codelets/tridiagonal.

namespace tesela::kernels::tridiagonal {

/// A column of numbers in each lane: row i of lane l is data[i row + l lane].
template <class T>
struct Strided {
  T* data;
  index_t row, lane;
  T& operator()(index_t i, index_t l) const { return data[i * row + l * lane]; }
  Strided from(index_t i, index_t l) const { return {data + i * row + l * lane, row, lane}; }
};

/// `rows` rows of A and B in each lane. Lanes are separate systems or consecutive runs of one system.
template <class T>
struct Rows {
  Strided<const T> dl, d, du;
  Strided<T> b;
  index_t rows;
  bool systems;         ///< each lane is a system
  bool before, behind;  ///< as in SystemsTile, of every lane if `systems`, else of the first and the last lane
};

/// Row where a run broke down, counted from 1; 0: nowhere.
using Breakdown = index_t;

/// Rows between two segments that forward() keeps.
inline constexpr index_t block_rows = 128;

/// Returns `rows` rows of system s of a tile, from row i on.
template <class T>
Rows<T> part(const Rows<T>& all, index_t s, index_t i, index_t rows) {
  Rows<T> r = all;
  r.dl = all.dl.from(i, s), r.d = all.d.from(i, s), r.du = all.du.from(i, s), r.b = all.b.from(i, s);
  r.rows = rows;
  return r;
}

/// Returns the first of two breakdowns, or 0 if there is none.
inline Breakdown earlier(Breakdown a, Breakdown b) { return a > 0 && (b == 0 || a < b) ? a : b; }

/// Most runs of one system, on any vector unit: the lanes of two vectors of 64 bytes of the narrowest numbers, and a
/// run of the remaining rows.
inline constexpr index_t most_runs = 2 * 64 / 4 + 1;

/// Returns the segments of a system that a core keeps: one per run, and one before each block.
inline index_t kept_segments(index_t equations) { return ceil_div(equations, block_rows) + most_runs; }

/// Returns whether an equation of the segment has no unknowns because its rows are linearly dependent.
template <class T>
bool degenerate(const Segment<T>& segment) {
  return size_of(segment.upper) == T(0) || size_of(segment.lower) == T(0);
}

/// Joins the segments of the consecutive runs first … last - 1.
template <class T>
Segment<T> join_runs(const Segment<T>* segments, index_t first, index_t last) {
  Segment<T> whole = segments[first];
  Joint<T> joint;
  for (index_t l = first + 1; l < last; ++l) whole = join(whole, segments[l], joint);
  return whole;
}

/// Finds the ends of these runs, given the ends of the joined segment. Run l begins at row begin(l). Returns the first
/// row, counted from 1, where a join breaks down, or 0.
template <class T, class Begin>
Breakdown ends_of_runs(const Segment<T>* segments, index_t first, index_t last, const Ends<T>& whole, Begin begin,
                       Ends<T>* ends) {
  Breakdown broken = 0;
  const auto breaks = [&](Breakdown row) { broken = earlier(broken, row); };
  Joint<T> joints[most_runs]{};
  Segment<T> sofar = segments[first];
  for (index_t l = first; l < last; ++l) {
    if (l > first) sofar = join(sofar, segments[l], joints[l]);
    if (degenerate(segments[l]) || degenerate(sofar)) breaks(begin(l + 1));
  }
  T e = whole.e, f = whole.f;
  for (index_t l = last - 1; l >= first; --l) {
    ends[l] = {whole.a, whole.b, e, f};
    if (l == first) break;
    if (!degenerate(segments[l]) && joints[l].inverse_c == T(0)) breaks(begin(l));
    if (!degenerate(segments[l]) && joints[l].inverse_d == T(0)) breaks(begin(l) + 1);
    between(joints[l], {whole.a, whole.b, e, f}, ends[l].a, ends[l].b);
    e = ends[l].a, f = ends[l].b;
  }
  return broken;
}

template <class T>
Rows<T> rows_of(const SystemsTile& place, const Block<const T>& dl, const Block<const T>& d, const Block<const T>& du,
                const Block<T>& b) {
  const bool columns = place.systems == SystemsIn::columns;
  const auto strides = [&](auto* data, index_t ld, bool many) {
    return Strided<std::remove_pointer_t<decltype(data)>>{data, columns ? 1 : ld,
                                                          !many     ? 0
                                                          : columns ? ld
                                                                    : index_t{1}};
  };
  const auto band = [&](const Block<const T>& block) {
    return strides(block.data, block.ld, (columns ? block.cols : block.rows) > 1);
  };
  return {band(dl), band(d),      band(du),    strides(b.data, b.ld, true), columns ? b.rows : b.cols,
          true,     place.before, place.behind};
}

template <class T>
Block<T> writable(const In<T>& tile) {
  return {const_cast<T*>(tile.data), tile.rows, tile.cols, tile.ld};
}

template <class T>
index_t systems_of(const SystemsTile& place, const Block<T>& b) {
  return place.systems == SystemsIn::columns ? b.cols : b.rows;
}

inline void add(index_t row, const SystemsTile& place, index_t system, InOut<int> info) {
  if (row > 0 && info(0, 0) == 0) info(0, 0) = row_status(row + place.n * system);
}

/// Returns whether solve_ends found a pivot for the last unknown; an infinite pivot would make it zero.
template <class T>
bool regular_pivot(T pivot) {
  return pivot != T(0) && std::isfinite(pivot);
}

}  // namespace tesela::kernels::tridiagonal
