#pragma once

#include <tesela/codelets/support/internal/multiversion.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_lanes.hpp>

#include <algorithm>

// One system on a core, in runs of rows that are eliminated side by side. Internal to codelets/tridiagonal.cpp, whose
// functions these are: they are compiled once.

namespace tesela::kernels::tridiagonal {

template <class T>
using Vectors = Lanes<T, typename VectorOf<T>::type, 2>;
template <class T>
using Numbers = Lanes<T, T, 1>;
/// Whose pivot rows stay in a core's second cache, twice.
template <class T>
using Kept = Lanes<T, typename VectorOf<T>::type, 2, 256>;

// One function of each kind: target_clones takes no template.
#define TESELA_TRIDIAGONAL_PASSES(T, L)                                                                               \
  TESELA_MULTIVERSION static void forward(L<T>& lanes, const Rows<T>& rows, Segment<T>* kept, Segment<T>* segments) { \
    lanes.forward(rows, kept, segments);                                                                              \
  }                                                                                                                   \
  TESELA_MULTIVERSION static void backward(L<T>& lanes, const Rows<T>& rows, const Segment<T>* kept,                  \
                                           const Ends<T>* ends, Breakdown* broken) {                                  \
    lanes.backward(rows, kept, ends, broken);                                                                         \
  }
TESELA_TRIDIAGONAL_PASSES(float, Vectors)
TESELA_TRIDIAGONAL_PASSES(double, Vectors)
TESELA_TRIDIAGONAL_PASSES(float, Numbers)
TESELA_TRIDIAGONAL_PASSES(double, Numbers)
#undef TESELA_TRIDIAGONAL_PASSES

#define TESELA_TRIDIAGONAL_PASSES_HERE(T)                                                                   \
  TESELA_MULTIVERSION static void forward_here(Kept<T>& lanes, const Rows<T>& rows, Segment<T>* segments) { \
    lanes.forward_here(rows, segments);                                                                     \
  }                                                                                                         \
  TESELA_MULTIVERSION static void backward_here(Kept<T>& lanes, const Rows<T>& rows, const Ends<T>* ends,   \
                                                Breakdown* broken) {                                        \
    lanes.backward_here(rows, ends, broken);                                                                \
  }
TESELA_TRIDIAGONAL_PASSES_HERE(float)
TESELA_TRIDIAGONAL_PASSES_HERE(double)
#undef TESELA_TRIDIAGONAL_PASSES_HERE

/// System s of a tile, and its rows from i on.
template <class T>
Rows<T> part(const Rows<T>& all, index_t s, index_t i, index_t rows) {
  Rows<T> r = all;
  r.dl = all.dl.from(i, s), r.d = all.d.from(i, s), r.du = all.du.from(i, s), r.b = all.b.from(i, s);
  r.rows = rows;
  return r;
}

/// Rows that depend on each other leave an equation without unknowns.
template <class T>
bool degenerate(const Segment<T>& segment) {
  return size_of(segment.upper) == T(0) || size_of(segment.lower) == T(0);
}

/// Of two rows that broke down, 0 being none, the one that comes first.
inline Breakdown earlier(Breakdown a, Breakdown b) { return a > 0 && (b == 0 || a < b) ? a : b; }

/// What runs first … last - 1, which follow one another, say together.
template <class T>
Segment<T> join_runs(const Segment<T>* segments, index_t first, index_t last) {
  Segment<T> whole = segments[first];
  Joint<T> joint;
  for (index_t l = first + 1; l < last; ++l) whole = join(whole, segments[l], joint);
  return whole;
}

/// The ends of these runs, given those of all together. Run l has rows begin(l) …. Returns the first row, counted from
/// 1, where that breaks down, or 0.
template <class T, class Begin>
Breakdown ends_of_runs(const Segment<T>* segments, index_t first, index_t last, const Ends<T>& whole, Begin begin,
                       Ends<T>* ends) {
  Breakdown broken = 0;
  const auto breaks = [&](Breakdown row) { broken = earlier(broken, row); };
  Joint<T> joints[Lanes<T, typename VectorOf<T>::type, 2>::lanes + 1];
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

/// One system of a tile: a run of consecutive rows in each lane, and one more of what remains, as numbers. `kept` has
/// the runs' segments, then what the passes keep.
template <class T>
class OneSystem {
 public:
  static constexpr index_t lanes = Vectors<T>::lanes, runs = lanes + 1;
  OneSystem(const Rows<T>& all, index_t s) : all_(part(all, s, 0, all.rows)) {
    constexpr index_t line = 64 / index_t{sizeof(T)};
    index_t lines = all.rows / (lanes * line);
    if (lines > 16 && lines % 2 == 0) --lines;  // lanes 2^k lines apart would meet in few sets of the cache
    each_ = lines * line;
  }

  Segment<T> reduce(Segment<T>* kept) {
    on_runs(kept + runs, [&](auto& work, const Rows<T>& rows, index_t run, Segment<T>* blocks) {
      forward(work, rows, blocks, kept + run);
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
      backward(work, rows, blocks, ends + run, rows_broken + run);
    });
    for (index_t l = first(); l < last(); ++l)
      if (rows_broken[l] > 0) broken = earlier(broken, begin(l) + rows_broken[l]);
    return broken;
  }

 private:
  index_t first() const { return each_ > 0 ? 0 : lanes; }
  index_t last() const { return begin(lanes) < all_.rows ? runs : lanes; }
  index_t begin(index_t run) const { return run < runs ? run * each_ : all_.rows; }

  /// Calls f for the lanes' runs and for what remains, with a place to keep things.
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

/// Segments that a core keeps of a system: of each run, and before each block.
index_t kept_segments(index_t equations) { return ceil_div(equations, block_rows) + OneSystem<float>::runs; }

}  // namespace tesela::kernels::tridiagonal
