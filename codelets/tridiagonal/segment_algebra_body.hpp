// The algebra of segments (tridiagonal_segment.hpp) for numbers and for vectors N. Included in a namespace that has
// constant, choose, magnitude, negative, larger and over_power of N: once for numbers, and for vectors once for each
// vector unit that is compiled for. So it has no guard.

template <class M, class N>
TESELA_INLINE void swap_where(const M& which, N& a, N& b) {
  const N old = a;
  a = choose(which, b, a);
  b = choose(which, old, b);
}

/// 1 / p, and 0 where p is zero: the unknown is then left out, and whoever looks for a breakdown finds the zero.
template <class N>
TESELA_INLINE N inverse(const N& p) {
  const N zero = constant<N>(0);
  return choose(p == zero, zero, constant<N>(1) / p);
}

/// Multiplies an equation by a power of two such that its largest coefficient lies in [2, 4): what rows weigh does not
/// depend on their units, and no multiplier overflows. Rows of zeros, and numbers that are none, stay.
template <class N>
TESELA_INLINE void normalize(N& dl, N& d, N& du, N& b) {
  const N size = larger(magnitude(dl), larger(magnitude(d), magnitude(du)));
  const N scale = choose(size == constant<N>(0), constant<N>(1), over_power(size));
  dl = dl * scale, d = d * scale, du = du * scale, b = b * scale;
}

/// No rows at all: both ends are one.
template <class N>
TESELA_INLINE Segment<N> no_rows() {
  const N zero = constant<N>(0), one = constant<N>(1);
  return {{one, zero, negative(one), zero, zero}, {zero, one, zero, negative(one), zero}};
}

/// Row i alone, dl x(i-1) + d x(i) + du x(i+1) = b.
template <class N>
TESELA_INLINE Segment<N> one_row(const N& dl, const N& d, const N& du, const N& b) {
  const N zero = constant<N>(0), one = constant<N>(1);
  return {{dl, d, zero, du, b}, {zero, one, negative(one), zero, zero}};
}

template <class N>
TESELA_INLINE N size_of(const EndEquation<N>& row) {
  return larger(larger(magnitude(row.e), magnitude(row.f)), larger(magnitude(row.p), magnitude(row.q)));
}

/// Appends row j + 1 and eliminates x(j). Returns the row that did it.
template <class N>
TESELA_INLINE PivotRow<N> append(Segment<N>& segment, const N& dl, const N& d, const N& du, const N& b) {
  EndEquation<N> upper = segment.upper, lower = segment.lower;
  const N zero = constant<N>(0);
  N size = size_of(lower);
  {
    const N other = size_of(upper);
    const auto better = magnitude(upper.p) * size > magnitude(lower.p) * other;
    swap_where(better, upper.e, lower.e);
    swap_where(better, upper.f, lower.f);
    swap_where(better, upper.p, lower.p);
    swap_where(better, upper.q, lower.q);
    swap_where(better, upper.r, lower.r);
    size = choose(better, other, size);
  }
  const N next = larger(magnitude(dl), larger(magnitude(d), magnitude(du)));
  const auto better = magnitude(dl) * size > magnitude(lower.p) * next;
  const N p = choose(better, dl, lower.p), inv = inverse(p);
  const PivotRow<N> pivot{choose(better, zero, lower.e), choose(better, zero, lower.f), choose(better, d, lower.q),
                          choose(better, du, zero),      choose(better, b, lower.r),    inv};
  const N up = upper.p * inv, low = choose(better, lower.p, dl) * inv;
  segment.upper = {upper.e - up * pivot.e, upper.f - up * pivot.f, upper.q - up * pivot.q, negative(up) * pivot.t,
                   upper.r - up * pivot.r};
  segment.lower = {choose(better, lower.e, zero) - low * pivot.e, choose(better, lower.f, zero) - low * pivot.f,
                   choose(better, lower.q, d) - low * pivot.q, choose(better, zero, du) - low * pivot.t,
                   choose(better, lower.r, b) - low * pivot.r};
  return pivot;
}

/// append() where lower.p dominates its equation and d its row: nothing is exchanged then, and the result has the same
/// bits.
template <class N>
TESELA_INLINE PivotRow<N> append_dominant(Segment<N>& segment, const N& dl, const N& d, const N& du, const N& b) {
  EndEquation<N>&upper = segment.upper, &lower = segment.lower;
  const N zero = constant<N>(0), inv = constant<N>(1) / lower.p, up = upper.p * inv, low = dl * inv;
  const PivotRow<N> pivot{lower.e, lower.f, lower.q, zero, lower.r, inv};
  upper = {upper.e - up * pivot.e, upper.f - up * pivot.f, upper.q - up * pivot.q, zero, upper.r - up * pivot.r};
  lower = {negative(low) * pivot.e, negative(low) * pivot.f, d - low * pivot.q, du, b - low * pivot.r};
  return pivot;
}
