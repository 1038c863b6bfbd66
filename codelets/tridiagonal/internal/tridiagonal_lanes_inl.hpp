// The elimination of several runs of rows at once, a lane of a vector for each. A run goes forward in blocks that fit
// the cache, the segment before each block is kept, and the way back recomputes the pivot rows of a block from it.
// Included once for each vector unit. Internal to codelets/tridiagonal.
#include <tesela/codelets/support/internal/vectors_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_rows.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(TESELA_TRIDIAGONAL_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_TRIDIAGONAL_LANES_INL
#undef TESELA_TRIDIAGONAL_LANES_INL
#else
#define TESELA_TRIDIAGONAL_LANES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

using namespace kernels::HWY_NAMESPACE;

using tridiagonal::choose;
using tridiagonal::constant;
using tridiagonal::larger;
using tridiagonal::magnitude;
using tridiagonal::negative;
using tridiagonal::over_power;

/// What the algebra of segments needs of a vector.
template <class N>
concept VectorOfNumbers = !std::is_arithmetic_v<N>;
template <VectorOfNumbers N>
TESELA_INLINE N constant(int value) {
  return hn::Set(hn::DFromV<N>(), static_cast<hn::TFromV<N>>(value));
}
template <class M, VectorOfNumbers N>
TESELA_INLINE N choose(const M& which, const N& b, const N& a) {
  return hn::IfThenElse(which, b, a);
}
template <VectorOfNumbers N>
TESELA_INLINE N magnitude(const N& x) {
  return hn::Abs(x);
}
template <VectorOfNumbers N>
TESELA_INLINE N negative(const N& x) {
  return hn::Neg(x);
}
/// a if one of them is NaN on x86, like the one for numbers.
template <VectorOfNumbers N>
TESELA_INLINE N larger(const N& a, const N& b) {
  return hn::Max(b, a);
}
template <VectorOfNumbers N>
TESELA_INLINE N over_power(const N& x) {
  using T = hn::TFromV<N>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr hn::DFromV<N> numbers;
  constexpr hn::Rebind<Bits, hn::DFromV<N>> bits;
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  constexpr Bits largest = (Bits{1} << (8 * sizeof(T) - 1 - digits)) - 1;
  const N in_range = hn::Min(hn::Max(x, hn::Set(numbers, std::numeric_limits<T>::min())),
                             hn::Set(numbers, std::numeric_limits<T>::max()));
  const auto exponent = hn::And(hn::BitCast(bits, in_range), hn::Set(bits, largest << digits));
  return hn::BitCast(numbers, hn::Sub(hn::Set(bits, largest << digits), exponent));
}

#include <tesela/codelets/tridiagonal/segment_algebra_body.hpp>

/// Number `k` of a vector, or the number itself.
template <class T, class N>
TESELA_INLINE T& lane(N& v, int k) {
  return reinterpret_cast<T*>(&v)[k];
}
template <class T, class N>
TESELA_INLINE T lane(const N& v, int k) {
  return reinterpret_cast<const T*>(&v)[k];
}

/// A square of side^2 numbers, a row in a vector of 32 bytes at most.
template <class T>
struct Square {
  using RowTag = hn::CappedTag<T, 32 / sizeof(T)>;
  using Row = hn::Vec<RowTag>;
  static constexpr int side = static_cast<int>(hn::MaxLanes(RowTag()));

  /// out(k, l) = in(l, k), where rows lie `in_ld` and `out_ld` apart.
  TESELA_INLINE static void turn(const T* in, index_t in_ld, T* out, index_t out_ld) {
    Row rows[side];
    for (int l = 0; l < side; ++l) rows[l] = hn::LoadU(RowTag(), in + l * in_ld);
    exchange<side / 2>(rows);
    for (int k = 0; k < side; ++k) hn::StoreU(rows[k], RowTag(), out + k * out_ld);
  }

 private:
  /// Exchanges, in all squares of 2 h numbers along the diagonal, what lies off it; then in those half as large.
  template <int h>
  TESELA_INLINE static void exchange(Row* rows) {
    if constexpr (h > 0) {
      for (int i = 0; i < side; ++i)
        if ((i & h) == 0) exchange<h>(rows[i], rows[i + h]);
      exchange<h / 2>(rows);
    }
  }
  template <int h>
  TESELA_INLINE static void exchange(Row& upper, Row& lower) {
#if HWY_TARGET != HWY_SCALAR
    const Row u = upper, l = lower;
    if constexpr (h * sizeof(T) == 16) {  // halves of 32 bytes
      upper = hn::ConcatLowerLower(RowTag(), l, u);
      lower = hn::ConcatUpperUpper(RowTag(), l, u);
    } else if constexpr (h * sizeof(T) == 8) {  // halves of 16 bytes
      using Wide = hn::Repartition<double, RowTag>;
      const auto wide_u = hn::BitCast(Wide(), u), wide_l = hn::BitCast(Wide(), l);
      upper = hn::BitCast(RowTag(), hn::InterleaveLower(Wide(), wide_u, wide_l));
      lower = hn::BitCast(RowTag(), hn::InterleaveUpper(Wide(), wide_u, wide_l));
    } else {
      upper = hn::OddEven(hn::DupEven(l), u);
      lower = hn::OddEven(l, hn::DupOdd(u));
    }
#endif
  }
};

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
  HWY_NOINLINE void forward(const Rows<T>& rows, Segment<T>* kept, Segment<T>* segments) {
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

  /// forward() of at most Most rows, whose pivot rows stay here. Rows that follow the last lane's are brought near.
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

  /// backward() after forward_here().
  HWY_NOINLINE void backward_here(const Rows<T>& rows, const Ends<T>* ends, Breakdown* broken) {
    begin_filling(ends, broken);
    fill(rows, 0, rows.rows, broken);
  }

 private:
  TESELA_INLINE void begin_filling(const Ends<T>* ends, Breakdown* broken) {
    for (int l = 0; l < lanes; ++l) {
      Ends<N>& end = end_[l / width];
      lane<T>(end.a, l % width) = ends[l].a, lane<T>(end.b, l % width) = ends[l].b;
      lane<T>(next_[l / width], l % width) = ends[l].e, lane<T>(after_[l / width], l % width) = ends[l].f;
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
    unload(rows, first, count);
  }

  static constexpr index_t few = 64 / index_t{sizeof(T)};  // a line of the cache

  TESELA_INLINE static N same(T value) {
    if constexpr (width > 1)
      return all(value);
    else if constexpr (std::is_arithmetic_v<N>)
      return value;
    else
      return hn::Set(hn::DFromV<N>(), value);
  }

  /// Rows `first` … of each lane become dl_[to] ….
  TESELA_INLINE void load(const Rows<T>& rows, index_t first, index_t count, index_t to) {
    load(rows.dl, first, count, dl_ + to);
    load(rows.d, first, count, d_ + to);
    load(rows.du, first, count, du_ + to);
    load(Strided<const T>{rows.b.data, rows.b.row, rows.b.lane}, first, count, b_ + to);
    if (first == 0 && !rows.before)
      for (int l = 0; l < (rows.systems ? lanes : 1); ++l) lane<T>(dl_[to][l / width], l % width) = T(0);
    if (first + count == rows.rows && !rows.behind)
      for (int l = rows.systems ? 0 : lanes - 1; l < lanes; ++l)
        lane<T>(du_[to + count - 1][l / width], l % width) = T(0);
  }

  TESELA_INLINE static void load(const Strided<const T>& from, index_t first, index_t count, N (*to)[Groups]) {
    if (from.lane == 1) {
      for (index_t i = 0; i < count; ++i) std::memcpy(to + i, &from(first + i, 0), sizeof(*to));
    } else if (from.lane == 0) {
      for (index_t i = 0; i < count; ++i)
        for (int g = 0; g < Groups; ++g) to[i][g] = same(from(first + i, 0));
    } else if (width > 1 && from.row == 1 && count == few) {
      turn(&from(first, 0), from.lane, 1, reinterpret_cast<T*>(to), 1, lanes);
    } else {
      for (index_t i = 0; i < count; ++i)
        for (int l = 0; l < lanes; ++l) lane<T>(to[i][l / width], l % width) = from(first + i, l);
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
      for (int l = 0; l < lanes; ++l) rows.b(first + i, l) = lane<T>(b_[i][l / width], l % width);
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
      for (int k = 0; k < 10; ++k) numbers[k] = lane<T>(from[k], l % width);
    }
  }

  /// Rare: finds the first row of the block where a lane that is marked broke down, by a zero pivot or by a number that
  /// is none. The pivot row in row i's place is that of the unknown before.
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

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
