#pragma once

#include "codelets/tridiagonal.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

// The elimination of several runs of rows at once, a lane of a vector for each. A run goes forward in blocks that fit
// the cache, the segment before each block is kept, and the way back recomputes the pivot rows of a block from it.
// Internal to codelets/.

namespace tesela::tridiagonal {

/// 64 bytes of numbers. The compiler makes of it what the machine has.
template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  using type [[gnu::vector_size(64)]] = double;
};
template <>
struct VectorOf<float> {
  using type [[gnu::vector_size(64)]] = float;
};

/// A column of numbers in each lane: row i of lane l is data[i row + l lane].
template <class T>
struct Strided {
  T* data;
  index_t row, lane;
  T& operator()(index_t i, index_t l) const { return data[i * row + l * lane]; }
  Strided from(index_t i, index_t l) const { return {data + i * row + l * lane, row, lane}; }
};

/// `rows` rows of A and B in each lane. Lanes are either systems of their own or follow one another in one system.
template <class T>
struct Rows {
  Strided<const T> dl, d, du;
  Strided<T> b;
  index_t rows;
  bool systems;         ///< each lane is one
  bool before, behind;  ///< as in Place: of every lane if they are systems, else of the first and the last
};

/// Where a run broke down: the row of each lane, counted from 1; 0 if it did not.
using Breakdown = index_t;

inline constexpr index_t block_rows = 64;

/// N is a number or a vector of them, Groups how many of these are eliminated side by side, so that one's divisions
/// hide behind another's.
template <class T, class N, int Groups>
class Lanes {
 public:
  static constexpr int width = static_cast<int>(sizeof(N) / sizeof(T)), lanes = Groups * width;
  static index_t blocks(index_t rows) { return ceil_div(rows, block_rows); }

  /// What each lane's rows say: segments[l]. kept[(s - 1) lanes + l] is what they say before block s >= 1.
  TESELA_INLINE void forward(const Rows<T>& rows, Segment<T>* kept, Segment<T>* segments) {
    Segment<N> state[Groups];
    for (auto& s : state) s = no_rows<N>();
    for (index_t first = 0; first < rows.rows; first += block_rows) {
      if (first > 0) store(state, kept + (first / block_rows - 1) * lanes);
      const index_t count = std::min(block_rows, rows.rows - first);
      load(rows, first, count);
      for (index_t i = 0; i < count; ++i)
        for (int g = 0; g < Groups; ++g) append(state[g], dl_[i][g], d_[i][g], du_[i][g], b_[i][g]);
    }
    store(state, segments);
  }

  /// Fills in what lies between each lane's ends. `kept` is forward's.
  TESELA_INLINE void backward(const Rows<T>& rows, const Segment<T>* kept, const Ends<T>* ends, Breakdown* broken) {
    Ends<N> end[Groups];
    for (int l = 0; l < lanes; ++l) {
      const int g = l / width, k = l % width;
      lane(end[g].a, k) = ends[l].a, lane(end[g].b, k) = ends[l].b;
      lane(end[g].e, k) = ends[l].e, lane(end[g].f, k) = ends[l].f;
      broken[l] = 0;
    }
    N next[Groups], after[Groups];
    for (int g = 0; g < Groups; ++g) next[g] = end[g].e, after[g] = end[g].f;
    for (index_t s = blocks(rows.rows) - 1; s >= 0; --s) {
      const index_t first = s * block_rows, count = std::min(block_rows, rows.rows - first);
      Segment<N> state[Groups];
      if (s == 0)
        for (auto& g : state) g = no_rows<N>();
      else
        fetch(kept + (s - 1) * lanes, state);
      load(rows, first, count);
      // Row i's pivot row, whose unknown is the one before it, takes row i's place.
      N zeros[Groups], strange[Groups];
      for (int g = 0; g < Groups; ++g) zeros[g] = strange[g] = N{};
      for (index_t i = 0; i < count; ++i)
        for (int g = 0; g < Groups; ++g) {
          const PivotRow<N> pivot = append(state[g], dl_[i][g], d_[i][g], du_[i][g], b_[i][g]);
          dl_[i][g] = pivot.inverse;
          d_[i][g] = pivot.q;
          du_[i][g] = pivot.t;
          b_[i][g] = pivot.r - pivot.e * end[g].a - pivot.f * end[g].b;
          zeros[g] = choose(pivot.inverse == N{}, N{} + 1, zeros[g]);
        }
      for (int g = 0; g < Groups; ++g) note(zeros[g], first, count, g, broken, true);
      for (index_t i = count - 1; i >= 0; --i)
        for (int g = 0; g < Groups; ++g) {
          const N x = first + i > 0 ? (b_[i][g] - d_[i][g] * next[g] - du_[i][g] * after[g]) * dl_[i][g] : end[g].a;
          b_[i][g] = next[g];
          strange[g] = strange[g] + (next[g] - next[g]);
          after[g] = next[g];
          next[g] = x;
        }
      for (int g = 0; g < Groups; ++g) note(choose(strange[g] == N{}, N{}, N{} + 1), first, count, g, broken, false);
      unload(rows, first, count);
    }
  }

 private:
  static T& lane(N& v, int k) { return reinterpret_cast<T*>(&v)[k]; }
  static T lane(const N& v, int k) { return reinterpret_cast<const T*>(&v)[k]; }

  TESELA_INLINE void load(const Rows<T>& rows, index_t first, index_t count) {
    load(rows.dl, first, count, dl_);
    load(rows.d, first, count, d_);
    load(rows.du, first, count, du_);
    load(Strided<const T>{rows.b.data, rows.b.row, rows.b.lane}, first, count, b_);
    if (first == 0 && !rows.before)
      for (int l = 0; l < (rows.systems ? lanes : 1); ++l) lane(dl_[0][l / width], l % width) = T(0);
    if (first + count == rows.rows && !rows.behind)
      for (int l = rows.systems ? 0 : lanes - 1; l < lanes; ++l) lane(du_[count - 1][l / width], l % width) = T(0);
    for (index_t i = 0; i < count; ++i)
      for (int g = 0; g < Groups; ++g) normalize(dl_[i][g], d_[i][g], du_[i][g], b_[i][g]);
  }

  TESELA_INLINE static void load(const Strided<const T>& from, index_t first, index_t count, N (*to)[Groups]) {
    T* const out = reinterpret_cast<T*>(to);
    if (from.lane == 1 || from.lane == 0) {
      for (index_t i = 0; i < count; ++i) {
        const T* row = &from(first + i, 0);
        for (int l = 0; l < lanes; ++l) out[i * lanes + l] = row[from.lane == 0 ? 0 : l];
      }
      return;
    }
    for (int l = 0; l < lanes; ++l) {
      const T* column = &from(first, l);
      for (index_t i = 0; i < count; ++i) out[i * lanes + l] = column[i * from.row];
    }
  }

  TESELA_INLINE void unload(const Rows<T>& rows, index_t first, index_t count) const {
    const T* const in = reinterpret_cast<const T*>(b_);
    if (rows.b.lane == 1) {
      for (index_t i = 0; i < count; ++i) std::copy_n(in + i * lanes, lanes, &rows.b(first + i, 0));
      return;
    }
    for (int l = 0; l < lanes; ++l) {
      T* column = &rows.b(first, l);
      for (index_t i = 0; i < count; ++i) column[i * rows.b.row] = in[i * lanes + l];
    }
  }

  TESELA_INLINE static void store(const Segment<N>* state, Segment<T>* to) {
    for (int l = 0; l < lanes; ++l) {
      const N* from = reinterpret_cast<const N*>(&state[l / width]);
      T* numbers = reinterpret_cast<T*>(&to[l]);
      for (int k = 0; k < 10; ++k) numbers[k] = lane(from[k], l % width);
    }
  }
  TESELA_INLINE static void fetch(const Segment<T>* from, Segment<N>* state) {
    for (int l = 0; l < lanes; ++l) {
      const T* numbers = reinterpret_cast<const T*>(&from[l]);
      N* to = reinterpret_cast<N*>(&state[l / width]);
      for (int k = 0; k < 10; ++k) lane(to[k], l % width) = numbers[k];
    }
  }

  /// Rare: finds the first row of the block where a lane that is marked broke down, by a zero pivot or by a number that
  /// is none. The pivot row in row i's place is that of the unknown before.
  void note(const N& marked, index_t first, index_t count, int g, Breakdown* broken, bool pivots) const {
    for (int k = 0; k < width; ++k) {
      if (lane(marked, k) == T(0)) continue;
      for (index_t i = 0; i < count; ++i) {
        const bool here =
            pivots ? first + i > 0 && lane(dl_[i][g], k) == T(0) : !(lane(b_[i][g], k) - lane(b_[i][g], k) == T(0));
        if (!here) continue;
        broken[g * width + k] = first + i + (pivots ? 0 : 1);
        break;
      }
    }
  }

  N dl_[block_rows][Groups], d_[block_rows][Groups], du_[block_rows][Groups], b_[block_rows][Groups];
};

}  // namespace tesela::tridiagonal
