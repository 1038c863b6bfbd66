#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The algebra of the tridiagonal solver, for one system (N is a number) or for several (N is a vector of numbers). Any
/// consecutive rows i … j of a system give, after the elimination of x(i+1) … x(j-1), two equations of the unknowns
/// around their ends,
///
///     e x(i-1) + f x(i) + p x(j) + q x(j+1) = r      (twice).
///
/// The two equations are a segment. A row is a segment. Appending a row to a segment, or joining two neighbours, gives
/// a segment. Both are Gaussian elimination over all their rows, which does not break down for a regular matrix,
/// whatever its diagonal (stable parallel elimination of almost block diagonal systems: Wright, SIAM J. Sci. Stat.
/// Comput. 13 (1992)). The pivot is the largest number of its column relative to the largest of its row: scaled partial
/// pivoting (for tridiagonal systems in parallel: Klein and Strzodka, ICPP 2021).

namespace tesela::kernels::tridiagonal {

/// A separate namespace, so that functions for numbers or for one vector unit are looked up at the call, not by their
/// arguments' namespace.
namespace segments {

/// Equation e x(i-1) + f x(i) + p x(j) + q x(j+1) = r.
template <class N>
struct EndEquation {
  N e, f, p, q, r;
};

/// The two equations of rows i … j.
template <class N>
struct Segment {
  EndEquation<N> upper, lower;  ///< equations of row i and of row j
};

/// Row that eliminated x(k): e x(i-1) + f x(i) + x(k)/inverse + q x(k+1) + t x(k+2) = r.
template <class N>
struct PivotRow {
  N e, f, q, t, r, inverse;
};

/// The two rows of a join that eliminated x(j) and x(j+1), between its halves:
///
///     x(j)   = inverse_c (r_c - a_c A - b_c B - d_c x(j+1) - e_c E - f_c F),
///     x(j+1) = inverse_d (r_d - a_d A - b_d B - e_d E - f_d F)
///
/// with A, B before and at its first row, E, F at and after its last.
template <class N>
struct Joint {
  N ac, bc, dc, ec, fc, rc, inverse_c;  ///< a_c … inverse_c
  N ad, bd, ed, fd, rd, inverse_d;      ///< a_d … inverse_d
};

/// The unknowns around a segment's ends: a = x(i-1), b = x(i), e = x(j), f = x(j+1).
template <class N>
struct Ends {
  N a, b, e, f;
};

}  // namespace segments
using segments::EndEquation;
using segments::Ends;
using segments::Joint;
using segments::PivotRow;
using segments::Segment;

/// A real or complex number.
template <class N>
concept OneNumber = std::is_floating_point_v<N> || is_complex<N>;

/// Returns `value` as a number N. (Vectors have functions of these names in tridiagonal_system_inl.hpp.)
template <OneNumber N>
TESELA_INLINE N constant(int value) {
  return N(static_cast<real_t<N>>(value));
}
/// Returns b if `which` holds, else a.
template <OneNumber N>
TESELA_INLINE N choose(bool which, const N& b, const N& a) {
  return which ? b : a;
}
/// Returns |x|, of a complex x |Re x| + |Im x|. It decides between pivots.
template <OneNumber N>
TESELA_INLINE real_t<N> magnitude(N x) {
  if constexpr (is_complex<N>)
    return std::fabs(x.real()) + std::fabs(x.imag());
  else
    return std::fabs(x);  // signs are hard to predict
}
template <OneNumber N>
TESELA_INLINE N negative(N x) {
  return -x;
}
template <class N>
requires std::is_floating_point_v<N> TESELA_INLINE N larger(N a, N b) { return a < b ? b : a; }
/// Returns 2^(1 - e) for 2^e <= x < 2^(e+1), x >= 0, or the nearest normal power of two.
template <class N>
requires std::is_floating_point_v<N> TESELA_INLINE N over_power(N x) {
  using Integer = std::conditional_t<sizeof(N) == 8, std::int64_t, std::int32_t>;
  constexpr int digits = std::numeric_limits<N>::digits - 1;
  constexpr Integer largest = (Integer{1} << (8 * sizeof(N) - 1 - digits)) - 1;
  const Integer exponent = __builtin_bit_cast(Integer, x) >> digits;
  const Integer clamped = exponent < 1 ? 1 : exponent >= largest ? largest - 1 : exponent;
  return __builtin_bit_cast(N, (largest - clamped) << digits);
}

#include <tesela/codelets/tridiagonal/segment_algebra.inc>

namespace joining {

template <class N>
struct JoinRow {
  N c[6], r;  // of A, B, x(j), x(j+1), E, F
};

template <class N>
TESELA_INLINE auto size_of(const JoinRow<N>& row) {
  auto size = magnitude(row.c[0]);
  for (int k = 1; k < 6; ++k) size = larger(size, magnitude(row.c[k]));
  return size;
}

/// Eliminates one column from rows 0 … Last - 1 by the row that becomes row Last.
template <int Last, int Column, class N>
TESELA_INLINE N eliminate(JoinRow<N>* rows) {
  auto size = size_of(rows[Last]);
  for (int i = 0; i < Last; ++i) {
    const auto other = size_of(rows[i]);
    const auto better = magnitude(rows[i].c[Column]) * size > magnitude(rows[Last].c[Column]) * other;
    for (int k = 0; k < 6; ++k) swap_where(better, rows[i].c[k], rows[Last].c[k]);
    swap_where(better, rows[i].r, rows[Last].r);
    size = choose(better, other, size);
  }
  const N inv = inverse(rows[Last].c[Column]);
  for (int i = 0; i < Last; ++i) {
    const N factor = rows[i].c[Column] * inv;
    for (int k = 0; k < 6; ++k) rows[i].c[k] = rows[i].c[k] - factor * rows[Last].c[k];
    rows[i].c[Column] = constant<N>(0);
    rows[i].r = rows[i].r - factor * rows[Last].r;
  }
  return inv;
}

}  // namespace joining

/// Joins two neighbours: the first half's x(j), x(j+1) are the second half's x(i-1), x(i).
template <class N>
TESELA_INLINE Segment<N> join(const Segment<N>& first, const Segment<N>& second, Joint<N>& joint) {
  const N zero = constant<N>(0);
  const auto before = [&](const EndEquation<N>& s) {
    return joining::JoinRow<N>{{s.e, s.f, s.p, s.q, zero, zero}, s.r};
  };
  const auto after = [&](const EndEquation<N>& s) {
    return joining::JoinRow<N>{{zero, zero, s.e, s.f, s.p, s.q}, s.r};
  };
  joining::JoinRow<N> rows[4] = {before(first.upper), after(second.upper), after(second.lower), before(first.lower)};
  const N inverse_c = joining::eliminate<3, 2>(rows), inverse_d = joining::eliminate<2, 3>(rows);
  const auto &c = rows[3], &d = rows[2];
  joint = {c.c[0], c.c[1], c.c[3], c.c[4], c.c[5], c.r, inverse_c, d.c[0], d.c[1], d.c[4], d.c[5], d.r, inverse_d};
  const auto ends = [](const joining::JoinRow<N>& row) {
    return EndEquation<N>{row.c[0], row.c[1], row.c[4], row.c[5], row.r};
  };
  return {ends(rows[0]), ends(rows[1])};
}

/// Computes the unknowns x(j), x(j+1) between the halves of a join from its ends.
template <class N>
TESELA_INLINE void between(const Joint<N>& joint, const Ends<N>& ends, N& c, N& d) {
  d = (joint.rd - joint.ad * ends.a - joint.bd * ends.b - joint.ed * ends.e - joint.fd * ends.f) * joint.inverse_d;
  c = (joint.rc - joint.ac * ends.a - joint.bc * ends.b - joint.dc * d - joint.ec * ends.e - joint.fc * ends.f) *
      joint.inverse_c;
}

/// Computes the ends of a whole system.
///
/// periodic the unknowns before its first and after its last are its last and first; otherwise they do not exist.
/// Returns  the size of the last pivot, or 0 if the system is singular or a pivot is infinite. x does not reveal an
///          infinite pivot, because quotients by it are 0.
template <class N>
TESELA_INLINE auto solve_ends(const Segment<N>& whole, bool periodic, Ends<N>& ends) {
  EndEquation<N> s = whole.upper, t = whole.lower;
  if (periodic) {
    s.f = s.f + s.q, s.p = s.p + s.e;
    t.f = t.f + t.q, t.p = t.p + t.e;
  }
  const auto better =
      magnitude(t.f) * larger(magnitude(s.f), magnitude(s.p)) > magnitude(s.f) * larger(magnitude(t.f), magnitude(t.p));
  swap_where(better, s.f, t.f);
  swap_where(better, s.p, t.p);
  swap_where(better, s.r, t.r);
  const N inv = inverse(s.f), factor = t.f * inv, pivot = t.p - factor * s.p, last = inverse(pivot);
  ends.e = (t.r - factor * s.r) * last;
  ends.b = (s.r - s.p * ends.e) * inv;
  const N zero = constant<N>(0);
  ends.a = periodic ? ends.e : zero;
  ends.f = periodic ? ends.b : zero;
  const auto size = magnitude(pivot);
  using Size = std::remove_cv_t<decltype(size)>;
  const Size none = constant<Size>(0);
  return Size(choose(inv == zero, none, choose(last == zero, none, size)));
}

}  // namespace tesela::kernels::tridiagonal
