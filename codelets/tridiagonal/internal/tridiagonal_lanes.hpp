#pragma once

#include <tesela/codelets/support/internal/vector_of.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

// The elimination of several runs of rows at once, a lane of a vector for each. A run goes forward in blocks that fit
// the cache, the segment before each block is kept, and the way back recomputes the pivot rows of a block from it.
// Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// A square of side^2 numbers, a row in a vector of 32 bytes: what AVX2 shuffles well.
template <class T>
struct Square {
  using Row [[gnu::vector_size(32)]] = T;
  static constexpr int side = 32 / int{sizeof(T)};

  /// out(k, l) = in(l, k), where rows lie `in_ld` and `out_ld` apart.
  TESELA_INLINE static void turn(const T* in, index_t in_ld, T* out, index_t out_ld) {
    Row rows[side];
    for (int l = 0; l < side; ++l) std::memcpy(&rows[l], in + l * in_ld, sizeof(Row));
    exchange<side / 2>(rows, std::make_integer_sequence<int, side>{});
    for (int k = 0; k < side; ++k) std::memcpy(out + k * out_ld, &rows[k], sizeof(Row));
  }

 private:
  /// Exchanges, in all squares of 2 h numbers along the diagonal, what lies off it; then in those half as large.
  template <int h, int... j>
  TESELA_INLINE static void exchange(Row* rows, std::integer_sequence<int, j...> columns) {
    for (int i = 0; i < side; ++i) {
      if ((i & h) != 0) continue;
      const Row upper = rows[i], lower = rows[i + h];
      rows[i] = __builtin_shufflevector(upper, lower, ((j & h) != 0 ? side + j - h : j)...);
      rows[i + h] = __builtin_shufflevector(upper, lower, ((j & h) != 0 ? side + j : j + h)...);
    }
    if constexpr (h > 1) exchange<h / 2>(rows, columns);
  }
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
  bool before, behind;  ///< as in SystemsTile: of every lane if they are systems, else of the first and the last
};

/// Where a run broke down: the row of each lane, counted from 1; 0 if it did not.
using Breakdown = index_t;

inline constexpr index_t block_rows = 128;

/// N is a number or a vector of them, Groups how many of these are eliminated side by side, so that one's divisions
/// hide behind another's. There is room for the pivot rows of Most rows of each lane.
template <class T, class N, int Groups, index_t Most = block_rows>
class Lanes {
 public:
  static constexpr int width = static_cast<int>(sizeof(N) / sizeof(T)), lanes = Groups * width;
  static index_t blocks(index_t rows) { return ceil_div(rows, block_rows); }

  /// Segments that forward() keeps for backward().
  static index_t kept(index_t rows) { return std::max<index_t>(blocks(rows) - 1, 0) * lanes; }

  /// What each lane's rows say: segments[l]. What they say before each block but the first goes to `kept`, if anywhere.
  TESELA_INLINE void forward(const Rows<T>& rows, Segment<T>* kept, Segment<T>* segments) {
    Segment<N> state[Groups];
    for (auto& s : state) s = no_rows<N>();
    for (index_t first = 0; first < rows.rows; first += few) {
      if (first > 0 && first % block_rows == 0) std::memcpy(kept_before(kept, first), state, sizeof(state));
      const index_t count = std::min(few, rows.rows - first);
      load(rows, first, count, 0);
      for (index_t i = 0; i < count; ++i) {
        foresee(rows, first + 4 * few, i);
        for (int g = 0; g < Groups; ++g) append_row(state[g], i, g);
      }
    }
    store(state, segments);
  }

  /// Fills in what lies between each lane's ends. `kept` is forward's.
  TESELA_INLINE void backward(const Rows<T>& rows, const Segment<T>* kept, const Ends<T>* ends, Breakdown* broken) {
    begin_filling(ends, broken);
    for (index_t first = (blocks(rows.rows) - 1) * block_rows; first >= 0; first -= block_rows) {
      const index_t count = std::min(block_rows, rows.rows - first);
      Segment<N> state[Groups];
      if (first == 0)
        for (auto& g : state) g = no_rows<N>();
      else
        std::memcpy(state, kept_before(kept, first), sizeof(state));
      for (index_t i = 0; i < count; i += few) {
        const index_t some = std::min(few, count - i);
        load(rows, first + i, some, i);
        eliminate(rows, first + i - block_rows, state, i, some);
      }
      fill(rows, first, count, broken);
    }
  }

  /// forward() of at most Most rows, whose pivot rows stay here. Rows that follow the last lane's are brought near.
  TESELA_INLINE void forward_here(const Rows<T>& rows, Segment<T>* segments) {
    Segment<N> state[Groups];
    for (auto& s : state) s = no_rows<N>();
    for (index_t first = 0; first < rows.rows; first += few) {
      const index_t count = std::min(few, rows.rows - first), ahead = first + 4 * few;
      load(rows, first, count, first);
      eliminate(rows, ahead < rows.rows ? ahead : ahead + (lanes - 1) * rows.rows, state, first, count);
    }
    store(state, segments);
  }

  /// backward() after forward_here().
  TESELA_INLINE void backward_here(const Rows<T>& rows, const Ends<T>* ends, Breakdown* broken) {
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

  /// Row i of `few` has its part of row `first` of all lanes brought near: so many streams are too many for the
  /// hardware to foresee, and all their lines at once too many to wait for.
  TESELA_INLINE static void foresee(const Rows<T>& rows, index_t first, index_t i) {
    if (rows.b.row != 1) return;
    for (index_t l = i * lanes / few; l < (i + 1) * lanes / few; ++l) {
      __builtin_prefetch(&rows.dl(first, l));
      __builtin_prefetch(&rows.d(first, l));
      __builtin_prefetch(&rows.du(first, l));
      __builtin_prefetch(&rows.b(first, l));
    }
  }

  TESELA_INLINE PivotRow<N> append_row(Segment<N>& state, index_t i, int g) {
    N dl = dl_[i][g], d = d_[i][g], du = du_[i][g], b = b_[i][g];
    normalize(dl, d, du, b);
    return append(state, dl, d, du, b);
  }

  /// Row i's pivot row, whose unknown is the one before it, takes row i's place. Rows from `foreseen` on come next.
  TESELA_INLINE void eliminate(const Rows<T>& rows, index_t foreseen, Segment<N>* state, index_t first, index_t count) {
    for (index_t i = first; i < first + count; ++i) {
      foresee(rows, foreseen, i - first);
      for (int g = 0; g < Groups; ++g) {
        const PivotRow<N> pivot = append_row(state[g], i, g);
        dl_[i][g] = pivot.inverse;
        d_[i][g] = pivot.q;
        du_[i][g] = pivot.t;
        b_[i][g] = pivot.r;
        e_[i][g] = pivot.e;
        f_[i][g] = pivot.f;
      }
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

  /// Rows `first` … of each lane become dl_[to] ….
  TESELA_INLINE void load(const Rows<T>& rows, index_t first, index_t count, index_t to) {
    load(rows.dl, first, count, dl_ + to);
    load(rows.d, first, count, d_ + to);
    load(rows.du, first, count, du_ + to);
    load(Strided<const T>{rows.b.data, rows.b.row, rows.b.lane}, first, count, b_ + to);
    if (first == 0 && !rows.before)
      for (int l = 0; l < (rows.systems ? lanes : 1); ++l) lane(dl_[to][l / width], l % width) = T(0);
    if (first + count == rows.rows && !rows.behind)
      for (int l = rows.systems ? 0 : lanes - 1; l < lanes; ++l) lane(du_[to + count - 1][l / width], l % width) = T(0);
  }

  TESELA_INLINE static void load(const Strided<const T>& from, index_t first, index_t count, N (*to)[Groups]) {
    if (from.lane == 1) {
      for (index_t i = 0; i < count; ++i) std::memcpy(to + i, &from(first + i, 0), sizeof(*to));
    } else if (from.lane == 0) {
      for (index_t i = 0; i < count; ++i)
        for (int g = 0; g < Groups; ++g) to[i][g] = N{} + from(first + i, 0);
    } else if (width > 1 && from.row == 1 && count == few) {
      turn(&from(first, 0), from.lane, 1, reinterpret_cast<T*>(to), 1, lanes);
    } else {
      for (index_t i = 0; i < count; ++i)
        for (int l = 0; l < lanes; ++l) lane(to[i][l / width], l % width) = from(first + i, l);
    }
  }

  TESELA_INLINE void unload(const Rows<T>& rows, index_t first, index_t count) const {
    index_t i = 0;
    if (rows.b.lane == 1)
      for (; i < count; ++i) std::memcpy(&rows.b(first + i, 0), b_ + i, sizeof(*b_));
    else if (width > 1 && rows.b.row == 1)
      for (; i + few <= count; i += few)
        turn(reinterpret_cast<const T*>(b_ + i), 1, lanes, &rows.b(first + i, 0), rows.b.lane, 1);
    for (; i < count; ++i)
      for (int l = 0; l < lanes; ++l) rows.b(first + i, l) = lane(b_[i][l / width], l % width);
  }

  /// out(i, l) = in(i, l) for `few` rows, where one of the strides of a row and a lane is 1, in `in` the other than in
  /// `out`.
  TESELA_INLINE static void turn(const T* in, index_t in_lane, index_t in_row, T* out, index_t out_lane,
                                 index_t out_row) {
    constexpr int side = Square<T>::side;
    for (index_t l = 0; l < lanes; l += side)
      for (index_t i = 0; i < few; i += side)
        Square<T>::turn(in + i * in_row + l * in_lane, in_row == 1 ? in_lane : in_row, out + i * out_row + l * out_lane,
                        out_row == 1 ? out_lane : out_row);
  }

  TESELA_INLINE static auto* kept_before(auto* kept, index_t row) { return kept + (row / block_rows - 1) * lanes; }

  TESELA_INLINE static void store(const Segment<N>* state, Segment<T>* to) {
    for (int l = 0; l < lanes; ++l) {
      const N* from = reinterpret_cast<const N*>(&state[l / width]);
      T* numbers = reinterpret_cast<T*>(&to[l]);
      for (int k = 0; k < 10; ++k) numbers[k] = lane(from[k], l % width);
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

  N dl_[Most][Groups], d_[Most][Groups], du_[Most][Groups], b_[Most][Groups];
  N e_[Most][Groups], f_[Most][Groups];
  Ends<N> end_[Groups];
  N next_[Groups], after_[Groups];
};

}  // namespace tesela::kernels::tridiagonal
