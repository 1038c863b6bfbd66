#include <tesela/codelets/givens/internal/givens_pass.hpp>
#include <tesela/codelets/support/inline.hpp>

#include <cstring>

// The loops that all the time of QR by rotations goes into, compiled for AVX2 as well where there is such a thing: all
// of it must be inlined into the functions that say so.

namespace tesela::kernels::internal {
namespace {

/// Neighbouring columns' elements in one row: `count` registers of `bytes`, enough for their arithmetic to overlap.
template <class T, int bytes>
struct Lanes {
  static constexpr int count = 4, in_register = bytes / static_cast<int>(sizeof(T)), columns = count * in_register;
  typedef T Register __attribute__((vector_size(bytes)));
  Register part[count];

  TESELA_INLINE void load(const Strided<T>& c, index_t i) {
#pragma GCC unroll 4
    for (int k = 0; k < count; ++k)
      for (int x = 0; x < in_register; ++x) part[k][x] = c(i, k * in_register + x);
  }
  TESELA_INLINE void store(const Strided<T>& c, index_t i) const {
#pragma GCC unroll 4
    for (int k = 0; k < count; ++k)
      for (int x = 0; x < in_register; ++x) c(i, k * in_register + x) = part[k][x];
  }
  /// The cell that this row meets and the row: rotated, with `adjacent` pivots the row is the upper one.
  template <bool adjacent, bool back>
  TESELA_INLINE void meet(const Rotation<T>& x, Lanes& cell) {
#pragma GCC unroll 4
    for (int k = 0; k < count; ++k) {
      // The upper row ends in the cell, the lower one goes on; backwards they come from there.
      const Register upper = adjacent && !back ? part[k] : cell.part[k],
                     lower = adjacent && !back ? cell.part[k] : part[k];
      const Register above = back ? x.c * upper - x.s * lower : x.c * upper + x.s * lower;
      const Register below = back ? x.c * lower + x.s * upper : x.c * lower - x.s * upper;
      cell.part[k] = adjacent && back ? below : above;
      part[k] = adjacent && back ? above : below;
    }
  }
};

/// One column.
template <class T>
struct OneColumn {
  static constexpr int columns = 1;
  T value;
  TESELA_INLINE void load(const Strided<T>& c, index_t i) { value = c(i, 0); }
  TESELA_INLINE void store(const Strided<T>& c, index_t i) const { c(i, 0) = value; }
  template <bool adjacent, bool back>
  TESELA_INLINE void meet(const Rotation<T>& x, OneColumn& cell) {
    const T upper = adjacent && !back ? value : cell.value, lower = adjacent && !back ? cell.value : value;
    const T above = back ? x.c * upper - x.s * lower : x.c * upper + x.s * lower;
    const T below = back ? x.c * lower + x.s * upper : x.c * lower - x.s * upper;
    cell.value = adjacent && back ? below : above;
    value = adjacent && back ? above : below;
  }
};

template <bool adjacent, class V, class T>
TESELA_INLINE void forward_steps(const GivensWindow& w, index_t from, index_t to, const Rotation<T>* rotations,
                                 const Strided<T>& c, V* cell) {
  for (index_t e = from; e < to; ++e, rotations += w.width) {
    const index_t cells = w.cells(e);
    V v;
    v.load(c, w.in_row(e));
    for (index_t t = 0; t < cells; ++t) v.template meet<adjacent, false>(rotations[t], cell[t]);
    if (cells < w.width)
      cell[cells] = v;
    else
      v.store(c, w.out_row(e));
  }
}

template <bool adjacent, class V, class T>
TESELA_INLINE void backward_steps(const GivensWindow& w, index_t from, index_t to, const Rotation<T>* rotations,
                                  const Strided<T>& c, V* cell) {
  for (index_t e = to - 1; e >= from; --e) {
    const index_t cells = w.cells(e);
    const Rotation<T>* const x = rotations + (e - from) * w.width;
    V v;
    if (cells < w.width)
      v = cell[cells];
    else
      v.load(c, w.out_row(e));
    for (index_t t = cells - 1; t >= 0; --t) v.template meet<adjacent, true>(x[t], cell[t]);
    v.store(c, w.in_row(e));
  }
}

template <class V, class T>
TESELA_INLINE void pass(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                        const Strided<T>& c, T* saved) {
  V cell[max_givens_window];
  const auto bytes = static_cast<std::size_t>(w.width) * sizeof(V);
  const bool at_top = from == 0, at_end = to == w.steps(), adjacent = w.pivot == Pivot::adjacent;
  if (forward ? !at_top : !at_end)
    std::memcpy(cell, saved, bytes);
  else if (forward)
    for (index_t t = 0; t < w.first_cells(); ++t) cell[t].load(c, w.first_row(t));
  else
    for (index_t t = 0; t < w.last_cells(); ++t) cell[t].load(c, w.begin + t);
  if (forward)
    adjacent ? forward_steps<true>(w, from, to, rotations, c, cell)
             : forward_steps<false>(w, from, to, rotations, c, cell);
  else
    adjacent ? backward_steps<true>(w, from, to, rotations, c, cell)
             : backward_steps<false>(w, from, to, rotations, c, cell);
  if (forward ? !at_end : !at_top)
    std::memcpy(saved, cell, bytes);
  else if (forward)
    for (index_t t = 0; t < w.last_cells(); ++t) cell[t].store(c, w.begin + t);
  else
    for (index_t t = 0; t < w.first_cells(); ++t) cell[t].store(c, w.first_row(t));
}

template <int bytes, class T>
TESELA_INLINE void pass_all(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                            Strided<T> c, index_t columns, T* saved) {
  using V = Lanes<T, bytes>;
  for (; columns >= V::columns; columns -= V::columns) {
    pass<V>(w, forward, from, to, rotations, c, saved);
    c.data += V::columns * c.column_stride;
    saved += V::columns * w.width;
  }
  for (; columns > 0; --columns) {
    pass<OneColumn<T>>(w, forward, from, to, rotations, c, saved);
    c.data += c.column_stride;
    saved += w.width;
  }
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2"))) void pass_avx2(const GivensWindow& w, bool forward, index_t from, index_t to,
                                               const Rotation<T>* rotations, const Strided<T>& c, index_t columns,
                                               T* saved) {
  pass_all<32>(w, forward, from, to, rotations, c, columns, saved);
}
const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif

}  // namespace

template <class T>
void pass_columns(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                  Strided<T> c, index_t columns, T* saved) noexcept {
#ifdef __x86_64__
  if (has_avx2) return pass_avx2(w, forward, from, to, rotations, c, columns, saved);
#endif
  pass_all<16>(w, forward, from, to, rotations, c, columns, saved);
}

template void pass_columns(const GivensWindow&, bool, index_t, index_t, const Rotation<float>*, Strided<float>, index_t,
                           float*) noexcept;
template void pass_columns(const GivensWindow&, bool, index_t, index_t, const Rotation<double>*, Strided<double>,
                           index_t, double*) noexcept;

}  // namespace tesela::kernels::internal
