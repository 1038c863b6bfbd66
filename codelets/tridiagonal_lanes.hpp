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
  int next = 0;         ///< which rows come next: 1 those behind the last lane, -1 those before the first, 0 neither
};

/// Where a run broke down: the row of each lane, counted from 1; 0 if it did not.
using Breakdown = index_t;

inline constexpr index_t block_rows = 128;

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
    begin_filling(ends, broken);
    for (index_t s = blocks(rows.rows) - 1; s >= 0; --s) {
      const index_t first = s * block_rows, count = std::min(block_rows, rows.rows - first);
      Segment<N> state[Groups];
      if (s == 0)
        for (auto& g : state) g = no_rows<N>();
      else
        fetch(kept + (s - 1) * lanes, state);
      load(rows, first, count);
      eliminate(state, count);
      fill(rows, first, count, broken);
    }
  }

  /// As forward() for at most block_rows rows, whose pivot rows are kept here for fill().
  TESELA_INLINE void eliminate(const Rows<T>& rows, Segment<T>* segments) {
    Segment<N> state[Groups];
    for (auto& s : state) s = no_rows<N>();
    load(rows, 0, rows.rows);
    eliminate(state, rows.rows);
    store(state, segments);
  }
  TESELA_INLINE void fill(const Rows<T>& rows, const Ends<T>* ends, Breakdown* broken) {
    begin_filling(ends, broken);
    fill(rows, 0, rows.rows, broken);
  }

 private:
  TESELA_INLINE void begin_filling(const Ends<T>* ends, Breakdown* broken) {
    for (int l = 0; l < lanes; ++l) {
      Ends<N>& end = end_[l / width];
      lane(end.a, l % width) = ends[l].a, lane(end.b, l % width) = ends[l].b;
      lane(next_[l / width], l % width) = ends[l].e, lane(after_[l / width], l % width) = ends[l].f;
      broken[l] = 0;
    }
  }

  /// Row i's pivot row, whose unknown is the one before it, takes row i's place.
  TESELA_INLINE void eliminate(Segment<N>* state, index_t count) {
    for (index_t i = 0; i < count; ++i)
      for (int g = 0; g < Groups; ++g) {
        const PivotRow<N> pivot = append(state[g], dl_[i][g], d_[i][g], du_[i][g], b_[i][g]);
        dl_[i][g] = pivot.inverse;
        d_[i][g] = pivot.q;
        du_[i][g] = pivot.t;
        b_[i][g] = pivot.r;
        e_[i][g] = pivot.e;
        f_[i][g] = pivot.f;
      }
  }

  TESELA_INLINE void fill(const Rows<T>& rows, index_t first, index_t count, Breakdown* broken) {
    N zeros[Groups], strange[Groups];
    for (int g = 0; g < Groups; ++g) zeros[g] = strange[g] = N{};
    for (index_t i = count - 1; i >= 0; --i)
      for (int g = 0; g < Groups; ++g) {
        const Ends<N>& end = end_[g];
        const N r = b_[i][g] - e_[i][g] * end.a - f_[i][g] * end.b;
        const N before = first + i > 0 ? (r - d_[i][g] * next_[g] - du_[i][g] * after_[g]) * dl_[i][g] : end.a;
        zeros[g] = choose(dl_[i][g] == N{}, N{} + 1, zeros[g]);
        b_[i][g] = next_[g];
        strange[g] = strange[g] + (next_[g] - next_[g]);
        after_[g] = next_[g];
        next_[g] = before;
      }
    for (int g = 0; g < Groups; ++g) {
      note(zeros[g], first, count, g, broken, true);
      note(choose(strange[g] == N{}, N{}, N{} + 1), first, count, g, broken, false);
    }
    unload(rows, first, count);
  }

  static constexpr index_t few = 64 / index_t{sizeof(T)};  // a line of the cache

  static T& lane(N& v, int k) { return reinterpret_cast<T*>(&v)[k]; }
  static T lane(const N& v, int k) { return reinterpret_cast<const T*>(&v)[k]; }

  TESELA_INLINE void load(const Rows<T>& rows, index_t first, index_t count) {
    load(rows.dl, first, count, rows.next, dl_);
    load(rows.d, first, count, rows.next, d_);
    load(rows.du, first, count, rows.next, du_);
    load(Strided<const T>{rows.b.data, rows.b.row, rows.b.lane}, first, count, rows.next, b_);
    if (first == 0 && !rows.before)
      for (int l = 0; l < (rows.systems ? lanes : 1); ++l) lane(dl_[0][l / width], l % width) = T(0);
    if (first + count == rows.rows && !rows.behind)
      for (int l = rows.systems ? 0 : lanes - 1; l < lanes; ++l) lane(du_[count - 1][l / width], l % width) = T(0);
    for (index_t i = 0; i < count; ++i)
      for (int g = 0; g < Groups; ++g) normalize(dl_[i][g], d_[i][g], du_[i][g], b_[i][g]);
  }

  TESELA_INLINE static void load(const Strided<const T>& from, index_t first, index_t count, int next,
                                 N (*to)[Groups]) {
    T* const out = reinterpret_cast<T*>(to);
    if (from.lane == 1 || from.lane == 0) {
      for (index_t i = 0; i < count; ++i) {
        const T* row = &from(first + i, 0);
        for (int l = 0; l < lanes; ++l) out[i * lanes + l] = row[from.lane == 0 ? 0 : l];
      }
      return;
    }
    if (from.row == 1)
      turn<1>(&from(first, 0), from.lane, 1, count, next * lanes * from.lane, out);
    else
      turn<0>(&from(first, 0), from.lane, from.row, count, next * lanes * from.lane, out);
  }

  /// out(l, i) = in(i, l) for numbers that lie `Row` apart in a lane, or if that is 0 `row`. A line of the cache at a
  /// time: what one lane touches is still near when the next one comes. What is `ahead` of it comes next; so many
  /// streams are too many for the hardware to foresee.
  template <index_t Row>
  TESELA_INLINE static void turn(const T* in, index_t lane, index_t row, index_t count, index_t ahead, T* out) {
    const index_t step = Row > 0 ? Row : row;
    index_t i = 0;
    for (; i + few <= count; i += few)
      for (index_t l = 0; l < lanes; ++l) {
        const T* const from = in + i * step + l * lane;
        T* const to = out + i * lanes + l;
        __builtin_prefetch(from + ahead);
#pragma GCC unroll 16
        for (index_t k = 0; k < few; ++k) to[k * lanes] = from[k * step];
      }
    for (; i < count; ++i)
      for (index_t l = 0; l < lanes; ++l) out[i * lanes + l] = in[i * step + l * lane];
  }

  TESELA_INLINE void unload(const Rows<T>& rows, index_t first, index_t count) const {
    const T* const in = reinterpret_cast<const T*>(b_);
    if (rows.b.lane == 1) {
      for (index_t i = 0; i < count; ++i) std::copy_n(in + i * lanes, lanes, &rows.b(first + i, 0));
      return;
    }
    for (index_t i = 0; i < count; i += few)
      for (index_t l = 0; l < lanes; ++l) {
        T* const to = &rows.b(first + i, l);
        for (index_t k = 0; k < std::min(few, count - i); ++k) to[k * rows.b.row] = in[(i + k) * lanes + l];
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
  N e_[block_rows][Groups], f_[block_rows][Groups];
  Ends<N> end_[Groups];
  N next_[Groups], after_[Groups];
};

}  // namespace tesela::tridiagonal
