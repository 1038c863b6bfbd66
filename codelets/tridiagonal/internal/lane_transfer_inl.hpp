// Copies rows of a tridiagonal tile to and from vectors. Included once for each vector unit. Internal to
// codelets/tridiagonal.
#include <tesela/codelets/support/inline.hpp>
#include <tesela/codelets/support/internal/vectors_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_rows.hpp>

#include <cstring>
#include <type_traits>

#if defined(TESELA_LANE_TRANSFER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_LANE_TRANSFER_INL
#undef TESELA_LANE_TRANSFER_INL
#else
#define TESELA_LANE_TRANSFER_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

using namespace kernels::HWY_NAMESPACE;

/// Returns number `k` of a vector, or the number itself.
template <class T, class N>
TESELA_INLINE T& lane(N& v, int k) {
  return reinterpret_cast<T*>(&v)[k];
}
template <class T, class N>
TESELA_INLINE T lane(const N& v, int k) {
  return reinterpret_cast<const T*>(&v)[k];
}

/// A square of side^2 numbers, each row in a vector of at most 32 bytes.
template <class T>
struct Square {
  using RowTag = hn::CappedTag<T, 32 / sizeof(T)>;
  using Row = hn::Vec<RowTag>;
  static constexpr int side = static_cast<int>(hn::MaxLanes(RowTag()));

  /// Sets out(k, l) = in(l, k); rows are `in_ld` and `out_ld` apart.
  TESELA_INLINE static void turn(const T* in, index_t in_ld, T* out, index_t out_ld) {
    Row rows[side];
    for (int l = 0; l < side; ++l) rows[l] = hn::LoadU(RowTag(), in + l * in_ld);
    exchange<side / 2>(rows);
    for (int k = 0; k < side; ++k) hn::StoreU(rows[k], RowTag(), out + k * out_ld);
  }

 private:
  /// Swaps the off-diagonal h x h blocks of each 2 h x 2 h square on the diagonal, then continues in squares half as
  /// large.
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

/// Loads rows of a tile into vectors, one lane per run or system, and stores them.
template <class T, class N, int Groups>
struct Transfer {
  static constexpr int width = static_cast<int>(sizeof(N) / sizeof(T)), lanes = Groups * width;
  static constexpr index_t few = 64 / index_t{sizeof(T)};  // a cache line
  using Vectors = N[Groups];                               // one row of all lanes

  /// Loads rows `first` … of each lane. Elements of dl and du outside of the matrix become zero.
  TESELA_INLINE static void load(const Rows<T>& rows, index_t first, index_t count, Vectors* dl, Vectors* d,
                                 Vectors* du, Vectors* b) {
    load(rows.dl, first, count, dl);
    load(rows.d, first, count, d);
    load(rows.du, first, count, du);
    load(Strided<const T>{rows.b.data, rows.b.row, rows.b.lane}, first, count, b);
    if (first == 0 && !rows.before)
      for (int l = 0; l < (rows.systems ? lanes : 1); ++l) lane<T>(dl[0][l / width], l % width) = T(0);
    if (first + count == rows.rows && !rows.behind)
      for (int l = rows.systems ? 0 : lanes - 1; l < lanes; ++l) lane<T>(du[count - 1][l / width], l % width) = T(0);
  }

  TESELA_INLINE static void load(const Strided<const T>& from, index_t first, index_t count, Vectors* to) {
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

  TESELA_INLINE static void store(const Vectors* from, const Strided<T>& to, index_t first, index_t count) {
    index_t i = 0;
    if (to.lane == 1)
      for (; i < count; ++i) std::memcpy(&to(first + i, 0), from + i, sizeof(*from));
    else if (width > 1 && to.row == 1)
      for (; i + few <= count; i += few)
        turn(reinterpret_cast<const T*>(from + i), 1, lanes, &to(first + i, 0), to.lane, 1);
    for (; i < count; ++i)
      for (int l = 0; l < lanes; ++l) to(first + i, l) = lane<T>(from[i][l / width], l % width);
  }

  /// Prefetches row `first` of part i of `few` parts of the lanes. The hardware's prefetcher does not follow this
  /// number of streams, and a prefetch of all lanes at once would stall.
  TESELA_INLINE static void foresee(const Rows<T>& rows, index_t first, index_t i) {
    if (rows.b.row != 1) return;
    for (index_t l = i * lanes / few; l < (i + 1) * lanes / few; ++l) {
      __builtin_prefetch(&rows.dl(first, l));
      __builtin_prefetch(&rows.d(first, l));
      __builtin_prefetch(&rows.du(first, l));
      __builtin_prefetch(&rows.b(first, l));
    }
  }

 private:
  TESELA_INLINE static N same(T value) {
    if constexpr (std::is_arithmetic_v<N>)
      return value;
    else
      return hn::Set(hn::DFromV<N>(), value);
  }

  /// Sets out(i, l) = in(i, l) for `few` rows. Either in_row and out_lane are 1, or in_lane and out_row.
  TESELA_INLINE static void turn(const T* in, index_t in_lane, index_t in_row, T* out, index_t out_lane,
                                 index_t out_row) {
    constexpr int side = Square<T>::side;
    for (index_t l = 0; l < lanes; l += side)
      for (index_t i = 0; i < few; i += side)
        Square<T>::turn(in + i * in_row + l * in_lane, in_row == 1 ? in_lane : in_row, out + i * out_row + l * out_lane,
                        out_row == 1 ? out_lane : out_row);
  }
};

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
