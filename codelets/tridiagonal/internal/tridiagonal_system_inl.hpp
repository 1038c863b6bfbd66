// One system on a core, in runs of rows that are eliminated together. Included once for each vector unit. Internal to
// codelets/tridiagonal.
#include <tesela/codelets/tridiagonal/internal/tridiagonal_lanes_inl.hpp>

#include <algorithm>

#if defined(TESELA_TRIDIAGONAL_SYSTEM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_TRIDIAGONAL_SYSTEM_INL
#undef TESELA_TRIDIAGONAL_SYSTEM_INL
#else
#define TESELA_TRIDIAGONAL_SYSTEM_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

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
