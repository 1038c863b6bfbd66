#include <tesela/codelets/givens/internal/givens_pass.hpp>

#define HWY_TARGET_INCLUDE "tesela/codelets/givens/internal/givens_pass.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

#include <utility>

// Inner loops of QR by rotations, which need nearly all of its time.

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes of one element: two for a complex number.
template <class T>
inline constexpr int lanes_of = is_complex<T> ? 2 : 1;

/// Processes C from column count * (a vector's columns) on.
template <class D, class T>
HWY_INLINE Strided<T> columns_from(const Strided<T>& c, index_t count = 1) {
  return {c.data + count * (static_cast<index_t>(hn::MaxLanes(D())) / lanes_of<T>)*c.column_stride, c.row_stride,
          c.column_stride};
}

/// Loads row i of a vector's neighbouring columns, or stores it. A vector is assembled from its halves.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_row(const Strided<T>& c, index_t i) {
  if constexpr (hn::MaxLanes(D()) == lanes_of<T>) {
    return hn::LoadU(D(), reinterpret_cast<const real_t<T>*>(&c(i, 0)));
  } else {
#if HWY_TARGET != HWY_SCALAR
    using Half = hn::Half<D>;
    return hn::Combine(D(), load_row<Half>(columns_from<Half>(c), i), load_row<Half>(c, i));
#endif
  }
}
template <class D, class T>
HWY_INLINE void store_row(hn::Vec<D> v, const Strided<T>& c, index_t i) {
  if constexpr (hn::MaxLanes(D()) == lanes_of<T>) {
    hn::StoreU(v, D(), reinterpret_cast<real_t<T>*>(&c(i, 0)));
  } else {
#if HWY_TARGET != HWY_SCALAR
    using Half = hn::Half<D>;
    store_row<Half>(hn::LowerHalf(Half(), v), c, i);
    store_row<Half>(hn::UpperHalf(Half(), v), columns_from<Half>(c), i);
#endif
  }
}

/// A rotation in all lanes. Products and sums are not fused, as in rotate(), so that all methods give the same bits.
template <class D, class T>
struct Turn {
  hn::Vec<D> c, s;       // s: its real part
  hn::Vec<D> imaginary;  // of a complex s, negated in even lanes

  explicit HWY_INLINE Turn(const Rotation<T>& x) : c(hn::Set(D(), x.c)), s(hn::Set(D(), real_part(x.s))) {
    if constexpr (is_complex<T>) imaginary = hn::OddEven(hn::Set(D(), x.s.imag()), hn::Set(D(), -x.s.imag()));
  }
  /// Returns s v.
  HWY_INLINE hn::Vec<D> of_lower(hn::Vec<D> v) const {
    if constexpr (is_complex<T>)
      return hn::Add(hn::Mul(s, v), hn::Mul(imaginary, hn::Reverse2(D(), v)));
    else
      return hn::Mul(s, v);
  }
  /// Returns conj(s) v.
  HWY_INLINE hn::Vec<D> of_upper(hn::Vec<D> v) const {
    if constexpr (is_complex<T>)
      return hn::Sub(hn::Mul(s, v), hn::Mul(imaginary, hn::Reverse2(D(), v)));
    else
      return hn::Mul(s, v);
  }
};

/// Neighbouring columns' elements in one row: `count` vectors, enough for their arithmetic to overlap.
template <class D, class T, int count>
struct Cells {
  static constexpr index_t lanes = static_cast<index_t>(hn::MaxLanes(D())), columns = count * lanes / lanes_of<T>;
  hn::Vec<D> part[count];

  HWY_INLINE void load(const Strided<T>& c, index_t i) {
#pragma GCC unroll 4
    for (int k = 0; k < count; ++k) part[k] = load_row<D>(columns_from<D>(c, k), i);
  }
  HWY_INLINE void store(const Strided<T>& c, index_t i) const {
#pragma GCC unroll 4
    for (int k = 0; k < count; ++k) store_row<D>(part[k], columns_from<D>(c, k), i);
  }
  /// Stores the elements contiguously until the next call, or loads them.
  HWY_INLINE void save(T* to) const {
    for (int k = 0; k < count; ++k) hn::StoreU(part[k], D(), reinterpret_cast<real_t<T>*>(to) + k * lanes);
  }
  HWY_INLINE void resume(const T* from) {
    for (int k = 0; k < count; ++k) part[k] = hn::LoadU(D(), reinterpret_cast<const real_t<T>*>(from) + k * lanes);
  }
  /// Rotates the cell and the row that meets it; with `adjacent` pivots the row is the upper one.
  template <bool adjacent, bool back>
  HWY_INLINE void meet(const Rotation<T>& x, Cells& cell) {
    const Turn<D, T> turn(x);
#pragma GCC unroll 4
    for (int k = 0; k < count; ++k) {
      // The upper row stays in the cell, and the lower one continues to the next cell; the reverse if backwards.
      const auto upper = adjacent && !back ? part[k] : cell.part[k], lower = adjacent && !back ? cell.part[k] : part[k];
      const auto cu = hn::Mul(turn.c, upper), sl = turn.of_lower(lower), cl = hn::Mul(turn.c, lower),
                 su = turn.of_upper(upper);
      const auto above = back ? hn::Sub(cu, sl) : hn::Add(cu, sl), below = back ? hn::Add(cl, su) : hn::Sub(cl, su);
      cell.part[k] = adjacent && back ? below : above;
      part[k] = adjacent && back ? above : below;
    }
  }
};

/// A complex element in one row, for a target whose vectors have one lane. GCC 12 would fuse these products, in spite
/// of -ffp-contract=off, for targets that can.
template <class T>
struct Cell {
  static constexpr index_t columns = 1;
  T element;

  HWY_INLINE void load(const Strided<T>& c, index_t i) { element = c(i, 0); }
  HWY_INLINE void store(const Strided<T>& c, index_t i) const { c(i, 0) = element; }
  HWY_INLINE void save(T* to) const { *to = element; }
  HWY_INLINE void resume(const T* from) { element = *from; }
  template <bool adjacent, bool back>
  HWY_INLINE void meet(const Rotation<T>& x, Cell& cell) {
    if constexpr (adjacent && !back) std::swap(element, cell.element);
    back ? rotate_back(x, cell.element, element) : rotate(x, cell.element, element);
    if constexpr (adjacent && back) std::swap(element, cell.element);
  }
};

template <bool adjacent, class V, class T>
HWY_INLINE void forward_steps(const GivensWindow& w, index_t from, index_t to, const Rotation<T>* rotations,
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
HWY_INLINE void backward_steps(const GivensWindow& w, index_t from, index_t to, const Rotation<T>* rotations,
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
HWY_INLINE void pass(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                     const Strided<T>& c, T* saved) {
  V cell[max_givens_window];
  const bool at_top = from == 0, at_end = to == w.steps(), adjacent = w.pivot == Pivot::adjacent;
  if (forward ? !at_top : !at_end)
    for (index_t t = 0; t < w.width; ++t) cell[t].resume(saved + t * V::columns);
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
    for (index_t t = 0; t < w.width; ++t) cell[t].save(saved + t * V::columns);
  else if (forward)
    for (index_t t = 0; t < w.last_cells(); ++t) cell[t].store(c, w.begin + t);
  else
    for (index_t t = 0; t < w.first_cells(); ++t) cell[t].store(c, w.first_row(t));
}

template <class V, class T>
HWY_INLINE void pass_all(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                         Strided<T>& c, index_t& columns, T*& saved) {
  for (; columns >= V::columns; columns -= V::columns) {
    pass<V>(w, forward, from, to, rotations, c, saved);
    c.data += V::columns * c.column_stride;
    saved += V::columns * w.width;
  }
}

template <class T>
void pass_columns(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                  Strided<T> c, index_t columns, T* saved) {
  using Real = real_t<T>;
  using One = hn::CappedTag<Real, lanes_of<T>>;
  if constexpr (hn::MaxLanes(One()) < lanes_of<T>) {
    pass_all<Cell<T>>(w, forward, from, to, rotations, c, columns, saved);
  } else {
    pass_all<Cells<hn::CappedTag<Real, 32 / sizeof(Real)>, T, 4>>(w, forward, from, to, rotations, c, columns, saved);
    pass_all<Cells<One, T, 1>>(w, forward, from, to, rotations, c, columns, saved);
  }
}

}  // namespace
}  // namespace tesela::kernels::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels::internal {

template <class T>
void pass_columns(const GivensWindow& w, bool forward, index_t from, index_t to, const Rotation<T>* rotations,
                  Strided<T> c, index_t columns, T* saved) {
  TESELA_BEST_TARGET(pass_columns<T>)(w, forward, from, to, rotations, c, columns, saved);
}

#define TESELA_INSTANTIATE(T) \
  template void pass_columns(const GivensWindow&, bool, index_t, index_t, const Rotation<T>*, Strided<T>, index_t, T*);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels::internal
#endif
