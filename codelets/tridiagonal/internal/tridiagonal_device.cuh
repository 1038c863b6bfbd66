#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_segment.hpp>

// The elimination of tridiagonal_segment.hpp for one thread of a GPU: the same arithmetic with branches, and with
// exponents instead of quotients in the comparison of pivots. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Returns a weight that grows with log |x|: the exponent and the first digits. (Doubling drops the sign and runs on
/// units that comparisons, the bulk of these kernels, leave idle.)
__device__ inline unsigned weight(double x) { return static_cast<unsigned>(__double2hiint(x)) * 2u; }
__device__ inline unsigned weight(float x) { return static_cast<unsigned>(__float_as_int(x)) * 2u; }

/// Returns weight(2^exponent).
template <class T>
__device__ constexpr unsigned weight_of_power(int exponent) {
  return sizeof(T) == 8 ? static_cast<unsigned>(exponent + 1023) << 21 : static_cast<unsigned>(exponent + 127) << 24;
}
/// Least weight of infinities and NaN.
template <class T>
inline constexpr unsigned not_finite_weight = sizeof(T) == 8 ? 0xffe00000u : 0xff000000u;

template <class T>
__device__ inline unsigned weight(T a, T b, T c) {
  return max(max(weight(a), weight(b)), weight(c));
}
template <class T>
__device__ inline unsigned weight(const EndEquation<T>& row) {
  return max(weight(row.e, row.f, row.p), weight(row.q));
}

/// Returns 1 / p to the last bit or two, and 0 if p is too small to divide by.
__device__ inline double approximate_inverse(double p) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(p));
  const double error = fma(-p, r, 1.0);  // below 2^-20
  r = fma(r, fma(error, error, error), r);
  return weight(p) < weight_of_power<double>(-1000) ? 0.0 : r;
}
__device__ inline float approximate_inverse(float p) {
  return weight(p) < weight_of_power<float>(-120) ? 0.0f : __frcp_rn(p);
}

/// Scales as normalize() if the row's size requires it. Returns the weight of its largest coefficient.
template <class T>
__device__ inline unsigned fit(T& dl, T& d, T& du, T& b) {
  const unsigned size = weight(dl, d, du);
  constexpr int far = sizeof(T) == 8 ? 100 : 12;
  constexpr unsigned low = weight_of_power<T>(-far), high = weight_of_power<T>(far);
  if (size - low <= high - low) return size;
  normalize(dl, d, du, b);
  return weight(dl, d, du);
}

template <class T>
__device__ inline void exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}

/// Forces a branch that most warps skip: without it the compiler would compute both ways and select.
__device__ inline void force_branch() { asm volatile(""); }

/// Returns whether any active thread of the warp asks for it, so that a warp takes or skips the branch as one.
__device__ inline bool any_lane(bool asks) { return __any_sync(__activemask(), asks) != 0; }

/// Returns -a b, without an instruction for the sign.
template <class T>
__device__ inline T minus_product(T a, T b) {
  return fma(-a, b, T(0));
}

/// Row that eliminated x(k), solved for it: x(k) = r - q x(k+1) - (next ? t x(k+2) : e A + f B).
template <class T>
struct Solved {
  T e, f_or_t, q, r;
  bool next, zero;
};

/// Appends a row, like append(), after fit(), which has returned `size`. The best pivot has the least distance from its
/// row's size.
template <class T>
__device__ inline Solved<T> append_row(Segment<T>& s, T dl, T d, T du, T b, unsigned size) {
  const unsigned lower = weight(s.lower) - weight(s.lower.p), upper = weight(s.upper) - weight(s.upper.p);
  if (size - weight(dl) < min(lower, upper)) {
    const T inv = approximate_inverse(dl), q = d * inv, t = du * inv, r = b * inv;
    s.upper = {s.upper.e, s.upper.f, fma(-s.upper.p, q, s.upper.q), minus_product(s.upper.p, t),
               fma(-s.upper.p, r, s.upper.r)};
    s.lower = {s.lower.e, s.lower.f, fma(-s.lower.p, q, s.lower.q), minus_product(s.lower.p, t),
               fma(-s.lower.p, r, s.lower.r)};
    return {T(0), t, q, r, true, inv == T(0)};
  }
  const auto eliminate = [&](const EndEquation<T> pivot, const EndEquation<T> other) -> Solved<T> {
    const T inv = approximate_inverse(pivot.p), e = pivot.e * inv, f = pivot.f * inv, q = pivot.q * inv,
            r = pivot.r * inv;
    s.upper = {fma(-other.p, e, other.e), fma(-other.p, f, other.f), fma(-other.p, q, other.q), T(0),
               fma(-other.p, r, other.r)};
    s.lower = {minus_product(dl, e), minus_product(dl, f), fma(-dl, q, d), du, fma(-dl, r, b)};
    return {e, f, q, r, false, inv == T(0)};
  };
  // One branch for each case, so that no registers are exchanged.
  if (upper < lower) {
    force_branch();
    const Solved<T> x = eliminate(s.upper, s.lower);
    force_branch();
    return x;
  }
  return eliminate(s.lower, s.upper);
}

/// Returns the segment of two rows.
template <class T>
__device__ inline Segment<T> two_rows(T dl0, T d0, T du0, T b0, T dl1, T d1, T du1, T b1) {
  return {{dl0, d0, du0, T(0), b0}, {T(0), dl1, d1, du1, b1}};
}

namespace joining {

/// Returns how far a row's number in Column is below its largest number.
template <int Column, class T>
__device__ inline unsigned lack(const JoinRow<T>& row) {
  return max(weight(row.c[0], row.c[1], row.c[2]), weight(row.c[3], row.c[4], row.c[5])) - weight(row.c[Column]);
}

/// Eliminates as eliminate().
template <int Last, int Column, class T>
__device__ inline T eliminate_quickly(JoinRow<T>* rows) {
  unsigned least = lack<Column>(rows[Last]);
#pragma unroll
  for (int i = 0; i < Last; ++i) {
    const unsigned other = lack<Column>(rows[i]);
    if (any_lane(other < least)) {
      force_branch();
      if (other < least) exchange(rows[i], rows[Last]);
      least = min(least, other);
    }
  }
  const T inv = approximate_inverse(rows[Last].c[Column]);
#pragma unroll
  for (int i = 0; i < Last; ++i) {
    const T factor = rows[i].c[Column] * inv;
#pragma unroll
    for (int k = 0; k < 6; ++k)
      if (k > Column || k < 2) rows[i].c[k] = fma(-factor, rows[Last].c[k], rows[i].c[k]);
    rows[i].c[Column] = T(0);
    rows[i].r = fma(-factor, rows[Last].r, rows[i].r);
  }
  return inv;
}

}  // namespace joining

/// Joins as join().
template <class T>
__device__ inline Segment<T> join_device(const Segment<T>& first, const Segment<T>& second, Joint<T>& joint) {
  const T zero(0);
  joining::JoinRow<T> rows[4] = {
      {{first.upper.e, first.upper.f, first.upper.p, first.upper.q, zero, zero}, first.upper.r},
      {{zero, zero, second.lower.e, second.lower.f, second.lower.p, second.lower.q}, second.lower.r},
      {{zero, zero, second.upper.e, second.upper.f, second.upper.p, second.upper.q}, second.upper.r},
      {{first.lower.e, first.lower.f, first.lower.p, first.lower.q, zero, zero}, first.lower.r}};
  const T inverse_c = joining::eliminate_quickly<3, 2>(rows), inverse_d = joining::eliminate_quickly<2, 3>(rows);
  const auto &c = rows[3], &d = rows[2];
  joint = {c.c[0], c.c[1], c.c[3], c.c[4], c.c[5], c.r, inverse_c, d.c[0], d.c[1], d.c[4], d.c[5], d.r, inverse_d};
  return {{rows[0].c[0], rows[0].c[1], rows[0].c[4], rows[0].c[5], rows[0].r},
          {rows[1].c[0], rows[1].c[1], rows[1].c[4], rows[1].c[5], rows[1].r}};
}

}  // namespace tesela::kernels::tridiagonal
