// Elimination of several runs of rows at once, one vector lane per run. The forward pass works in blocks that fit into
// the cache and keeps the segment before each block; the backward pass recomputes the pivot rows of a block from it.
// One system is cut into such runs. Included once for each vector unit. Internal to codelets/tridiagonal.
#include <tesela/codelets/tridiagonal/internal/dominance_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/lane_transfer_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/segment_vectors_inl.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

#if defined(TESELA_TRIDIAGONAL_SYSTEM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_TRIDIAGONAL_SYSTEM_INL
#undef TESELA_TRIDIAGONAL_SYSTEM_INL
#else
#define TESELA_TRIDIAGONAL_SYSTEM_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

/// Elimination of a system or a run of rows in each lane. N is a number or a vector of numbers. Groups of N are
/// eliminated together, to overlap their divisions. Most is the number of pivot rows that a lane can keep.
template <class T, class N, int Groups, index_t Most = block_rows>
class Lanes {
 public:
  using Moves = Transfer<T, N, Groups>;
  static constexpr int width = Moves::width, lanes = Moves::lanes;
  static index_t blocks(index_t rows) { return ceil_div(rows, block_rows); }

  /// Segments that forward() keeps for backward().
  static index_t kept(index_t rows) { return std::max<index_t>(blocks(rows) - 1, 0) * lanes; }

  /// Reduces the rows of each lane l to segments[l]. `kept` receives the segment of the rows before each block except
  /// the first.
  HWY_NOINLINE void forward(const Rows<T>& rows, Segment<T>* kept, Segment<T>* segments) {
    Segment<N> state[Groups];
    for (auto& s : state) s = no_rows<N>();
    for (index_t first = 0; first < rows.rows; first += few) {
      if (first > 0 && first % block_rows == 0) std::memcpy(kept_before(kept, first), state, sizeof(state));
      const index_t count = std::min(few, rows.rows - first);
      load(rows, first, count, 0);
      append_rows(
          state, 0, count, [&](index_t i, int g, const PivotRow<N>&) __attribute__((always_inline)) {
            if (g == 0) Moves::foresee(rows, first + 4 * few, i);
          });
    }
    store(state, segments);
  }

  /// Computes the unknowns between each lane's ends. `kept` is the output of forward().
  HWY_NOINLINE void backward(const Rows<T>& rows, const Segment<T>* kept, const Ends<T>* ends, Breakdown* broken) {
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

  /// Runs forward() on at most Most rows and keeps their pivot rows. Prefetches the rows after the last lane's.
  HWY_NOINLINE void forward_here(const Rows<T>& rows, Segment<T>* segments) {
    Segment<N> state[Groups];
    for (auto& s : state) s = no_rows<N>();
    for (index_t first = 0; first < rows.rows; first += few) {
      const index_t count = std::min(few, rows.rows - first), ahead = first + 4 * few;
      load(rows, first, count, first);
      eliminate(rows, ahead < rows.rows ? ahead : ahead + (lanes - 1) * rows.rows, state, first, count);
    }
    store(state, segments);
  }

  /// Runs backward() after forward_here().
  HWY_NOINLINE void backward_here(const Rows<T>& rows, const Ends<T>* ends, Breakdown* broken) {
    begin_filling(ends, broken);
    fill(rows, 0, rows.rows, broken);
  }

 private:
  static constexpr index_t few = Moves::few;

  /// Loads rows `first` … of each lane to dl_[to] ….
  TESELA_INLINE void load(const Rows<T>& rows, index_t first, index_t count, index_t to) {
    Moves::load(rows, first, count, dl_ + to, d_ + to, du_ + to, b_ + to);
  }

  TESELA_INLINE void begin_filling(const Ends<T>* ends, Breakdown* broken) {
    for (int l = 0; l < lanes; ++l) {
      Ends<N>& end = end_[l / width];
      lane<T>(end.a, l % width) = ends[l].a, lane<T>(end.b, l % width) = ends[l].b;
      lane<T>(next_[l / width], l % width) = ends[l].e, lane<T>(after_[l / width], l % width) = ends[l].f;
      broken[l] = 0;
    }
  }

  /// Appends rows [first, first + count), at most `few`, and passes each pivot row to keep(i, group, pivot row).
  template <class F>
  TESELA_INLINE void append_rows(Segment<N>* state, index_t first, index_t count, const F& keep) {
    if (dominant(state, first, count))
      append_rows<true>(state, first, count, keep);
    else
      append_rows<false>(state, first, count, keep);
  }
  template <bool dominates, class F>
  TESELA_INLINE void append_rows(Segment<N>* state, index_t first, index_t count, const F& keep) {
    for (index_t i = first; i < first + count; ++i)
      for (int g = 0; g < Groups; ++g) {
        N dl = dl_[i][g], d = d_[i][g], du = du_[i][g], b = b_[i][g];
        if constexpr (dominates) {
          keep(i, g, append_dominant(state[g], dl, d, du, b));
        } else {
          normalize(dl, d, du, b);
          keep(i, g, append(state[g], dl, d, du, b));
        }
      }
  }

  /// Returns whether append_dominant() may append these rows.
  TESELA_INLINE bool dominant(const Segment<N>* state, index_t first, index_t count) const {
    if constexpr (std::is_arithmetic_v<N>) {
      return false;
    } else {
      Dominance<T> dominance;
      for (int g = 0; g < Groups; ++g) {
        const EndEquation<N>& last = state[g].lower;
        dominance.add_equation(last.p, magnitude(last.e) + magnitude(last.f) + magnitude(last.q));
        for (index_t i = first; i < first + count; ++i) dominance.add_row(dl_[i][g], d_[i][g], du_[i][g], b_[i][g]);
      }
      return dominance.holds();
    }
  }

  /// Replaces row i by its pivot row, which eliminates unknown i - 1. Prefetches rows from `foreseen` on.
  TESELA_INLINE void eliminate(const Rows<T>& rows, index_t foreseen, Segment<N>* state, index_t first, index_t count) {
    append_rows(
        state, first, count, [&](index_t i, int g, const PivotRow<N>& pivot) __attribute__((always_inline)) {
          if (g == 0) Moves::foresee(rows, foreseen, i - first);
          dl_[i][g] = pivot.inverse;
          d_[i][g] = pivot.q;
          du_[i][g] = pivot.t;
          b_[i][g] = pivot.r;
          e_[i][g] = pivot.e;
          f_[i][g] = pivot.f;
        });
  }

  TESELA_INLINE void fill(const Rows<T>& rows, index_t first, index_t count, Breakdown* broken) {
    N zeros[Groups], strange[Groups];
    for (int g = 0; g < Groups; ++g) zeros[g] = strange[g] = constant<N>(0);
    for (index_t i = count - 1; i >= 0; --i)
      for (int g = 0; g < Groups; ++g) {
        const Ends<N>& end = end_[g];
        const N r = b_[i][g] - e_[i][g] * end.a - f_[i][g] * end.b;
        const N before = first + i > 0 ? (r - d_[i][g] * next_[g] - du_[i][g] * after_[g]) * dl_[i][g] : end.a;
        zeros[g] = choose(dl_[i][g] == constant<N>(0), constant<N>(1), zeros[g]);
        b_[i][g] = next_[g];
        strange[g] = strange[g] + (next_[g] - next_[g]);
        after_[g] = next_[g];
        next_[g] = before;
      }
    for (int g = 0; g < Groups; ++g) {
      note(zeros[g], first, count, g, broken, true);
      note(choose(strange[g] == constant<N>(0), constant<N>(0), constant<N>(1)), first, count, g, broken, false);
    }
    Moves::store(b_, rows.b, first, count);
  }

  TESELA_INLINE static auto* kept_before(auto* kept, index_t row) { return kept + (row / block_rows - 1) * lanes; }

  TESELA_INLINE static void store(const Segment<N>* state, Segment<T>* to) {
    for (int l = 0; l < lanes; ++l) {
      const N* from = reinterpret_cast<const N*>(&state[l / width]);
      T* numbers = reinterpret_cast<T*>(&to[l]);
      for (int k = 0; k < 10; ++k) numbers[k] = lane<T>(from[k], l % width);
    }
  }

  /// Finds the first row of the block where a marked lane broke down, by a zero pivot or a number that is not finite.
  /// Row i holds the pivot row of unknown i - 1. Rarely needed.
  void note(const N& marked, index_t first, index_t count, int g, Breakdown* broken, bool pivots) const {
    for (int k = 0; k < width; ++k) {
      if (lane<T>(marked, k) == T(0)) continue;
      for (index_t i = 0; i < count; ++i) {
        const bool here = pivots ? first + i > 0 && lane<T>(dl_[i][g], k) == T(0)
                                 : !(lane<T>(b_[i][g], k) - lane<T>(b_[i][g], k) == T(0));
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

template <class T>
using Vectors = Lanes<T, Vec<T>, 2>;
template <class T>
using Numbers = Lanes<T, T, 1>;

/// One system of a tile: a run of consecutive rows in each lane, and a run of the remaining rows, as numbers. `kept`
/// has the runs' segments, then the segments that the passes keep.
template <class T>
class OneSystem {
 public:
  static constexpr index_t lanes = Vectors<T>::lanes, runs = lanes + 1;
  OneSystem(const Rows<T>& all, index_t s) : all_(part(all, s, 0, all.rows)) {
    constexpr index_t line = 64 / index_t{sizeof(T)};
    index_t lines = all.rows / (lanes * line);
    if (lines > 16 && lines % 2 == 0) --lines;  // lanes 2^k lines apart would share few sets of the cache
    each_ = lines * line;
  }

  Segment<T> reduce(Segment<T>* kept) {
    on_runs(kept + runs, [&](auto& work, const Rows<T>& rows, index_t run, Segment<T>* blocks) {
      work.forward(rows, blocks, kept + run);
    });
    return join_runs(kept, first(), last());
  }

  /// Returns the first row that broke down, counted from 1, or 0.
  Breakdown substitute(const Segment<T>* kept, const Ends<T>& whole) {
    Breakdown rows_broken[runs]{};
    Ends<T> ends[runs];
    Breakdown broken = ends_of_runs(
        kept, first(), last(), whole, [this](index_t run) { return begin(run); }, ends);
    on_runs(kept + runs, [&](auto& work, const Rows<T>& rows, index_t run, const Segment<T>* blocks) {
      work.backward(rows, blocks, ends + run, rows_broken + run);
    });
    for (index_t l = first(); l < last(); ++l)
      if (rows_broken[l] > 0) broken = earlier(broken, begin(l) + rows_broken[l]);
    return broken;
  }

 private:
  index_t first() const { return each_ > 0 ? 0 : lanes; }
  index_t last() const { return begin(lanes) < all_.rows ? runs : lanes; }
  index_t begin(index_t run) const { return run < runs ? run * each_ : all_.rows; }

  /// Calls f for the lanes' runs and for the run of the remaining rows, with their part of `kept`.
  template <class S, class F>
  void on_runs(S* kept, F f) {
    const auto from = [&](index_t run, index_t rows) {
      Rows<T> r = part(all_, 0, begin(run), rows);
      r.systems = false;
      for (Strided<const T>* band : {&r.dl, &r.d, &r.du}) band->lane = rows * band->row;
      r.b.lane = rows * r.b.row;
      r.before = all_.before || run > first();
      r.behind = all_.behind || (run == 0 && last() == runs);
      return r;
    };
    if (each_ > 0) f(vectors_, from(0, each_), index_t{0}, kept);
    if (last() == runs) f(numbers_, from(lanes, all_.rows - begin(lanes)), lanes, kept + Vectors<T>::kept(each_));
  }

  Rows<T> all_;
  index_t each_;
  Vectors<T> vectors_;
  Numbers<T> numbers_;
};

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
