#pragma once

#include "codelets/tridiagonal_segment.hpp"

#include <climits>

// tridiagonal_segment.hpp's elimination for one thread of a GPU: the same arithmetic, with branches, and with exponents
// in place of quotients where pivots are compared. Internal to codelets/.

namespace tesela::tridiagonal {

/// Grows with |x| as its logarithm does, a unit of 2^20 (2^23 in single precision) for each power of two.
__device__ inline int weight(double x) { return __double2hiint(x) & INT_MAX; }
__device__ inline int weight(float x) { return __float_as_int(x) & INT_MAX; }

template <class T>
inline constexpr int weight_bits = sizeof(T) == 8 ? 20 : 23;

/// How good a pivot x is in a row whose largest number weighs `row`.
template <class T>
__device__ inline int quality(T x, int row) {
  const int own = weight(x);
  return own == 0 ? INT_MIN : own - row;
}

template <class T>
__device__ inline int weight(const EndEquation<T>& row) {
  return max(max(weight(row.e), weight(row.f)), max(weight(row.p), weight(row.q)));
}

/// 1 / p to the last bit or two, and 0 for what is too small to divide by.
__device__ inline double quick_inverse(double p) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(p));
  r = fma(r, fma(-p, r, 1.0), r);
  r = fma(r, fma(-p, r, 1.0), r);
  return weight(p) < (8 << 20) ? 0.0 : r;
}
__device__ inline float quick_inverse(float p) { return weight(p) < (2 << 23) ? 0.0f : __frcp_rn(p); }

/// As normalize(), where the row's size asks for it. Returns the weight of its largest coefficient.
template <class T>
__device__ inline int fit(T& dl, T& d, T& du, T& b) {
  const int size = max(weight(dl), max(weight(d), weight(du)));
  constexpr int one = (sizeof(T) == 8 ? 1023 : 127) << weight_bits<T>, far = (sizeof(T) == 8 ? 100 : 12) << weight_bits<T>;
  if (abs(size - one) <= far) return size;
  normalize(dl, d, du, b);
  return max(weight(dl), max(weight(d), weight(du)));
}

template <class T>
__device__ inline void exchange(EndEquation<T>& a, EndEquation<T>& b) {
  const EndEquation<T> old = a;
  a = b;
  b = old;
}

/// The row that eliminated x(k), solved for it: x(k) = r - q x(k+1) - (next ? t x(k+2) : e A + f B).
template <class T>
struct Solved {
  T e, f_or_t, q, r;
  bool next, zero;
};

/// append() of a row that fit() has seen; `size` is what that returned.
template <class T>
__device__ inline Solved<T> append_row(Segment<T>& s, T dl, T d, T du, T b, int size) {
  int best = quality(s.lower.p, weight(s.lower));
  const int up = quality(s.upper.p, weight(s.upper));
  if (up > best) {
    exchange(s.upper, s.lower);
    best = up;
  }
  if (quality(dl, size) > best) {
    const T inv = quick_inverse(dl), q = d * inv, t = du * inv, r = b * inv;
    s.upper = {s.upper.e, s.upper.f, s.upper.q - s.upper.p * q, -s.upper.p * t, s.upper.r - s.upper.p * r};
    s.lower = {s.lower.e, s.lower.f, s.lower.q - s.lower.p * q, -s.lower.p * t, s.lower.r - s.lower.p * r};
    return {T(0), t, q, r, true, inv == T(0)};
  }
  const T inv = quick_inverse(s.lower.p), e = s.lower.e * inv, f = s.lower.f * inv, q = s.lower.q * inv,
          r = s.lower.r * inv;
  s.upper = {s.upper.e - s.upper.p * e, s.upper.f - s.upper.p * f, s.upper.q - s.upper.p * q, T(0),
             s.upper.r - s.upper.p * r};
  s.lower = {-dl * e, -dl * f, d - dl * q, du, b - dl * r};
  return {e, f, q, r, false, inv == T(0)};
}

/// The segment of two rows.
template <class T>
__device__ inline Segment<T> two_rows(T dl0, T d0, T du0, T b0, T dl1, T d1, T du1, T b1) {
  return {{dl0, d0, du0, T(0), b0}, {T(0), dl1, d1, du1, b1}};
}

namespace joining {

template <class T>
__device__ inline int weight(const JoinRow<T>& row) {
  int size = tridiagonal::weight(row.c[0]);
#pragma unroll
  for (int k = 1; k < 6; ++k) size = max(size, tridiagonal::weight(row.c[k]));
  return size;
}

/// As eliminate().
template <int Last, int Column, class T>
__device__ inline T eliminate_quickly(JoinRow<T>* rows) {
  int best = quality(rows[Last].c[Column], weight(rows[Last]));
#pragma unroll
  for (int i = 0; i < Last; ++i) {
    const int other = quality(rows[i].c[Column], weight(rows[i]));
    if (other > best) {
      const JoinRow<T> old = rows[i];
      rows[i] = rows[Last];
      rows[Last] = old;
      best = other;
    }
  }
  const T inv = quick_inverse(rows[Last].c[Column]);
#pragma unroll
  for (int i = 0; i < Last; ++i) {
    const T factor = rows[i].c[Column] * inv;
#pragma unroll
    for (int k = 0; k < 6; ++k) rows[i].c[k] -= factor * rows[Last].c[k];
    rows[i].c[Column] = T(0);
    rows[i].r -= factor * rows[Last].r;
  }
  return inv;
}

}  // namespace joining

/// As join().
template <class T>
__device__ inline Segment<T> join_quickly(const Segment<T>& first, const Segment<T>& second, Joint<T>& joint) {
  const T zero(0);
  joining::JoinRow<T> rows[4] = {
      {{first.upper.e, first.upper.f, first.upper.p, first.upper.q, zero, zero}, first.upper.r},
      {{zero, zero, second.upper.e, second.upper.f, second.upper.p, second.upper.q}, second.upper.r},
      {{zero, zero, second.lower.e, second.lower.f, second.lower.p, second.lower.q}, second.lower.r},
      {{first.lower.e, first.lower.f, first.lower.p, first.lower.q, zero, zero}, first.lower.r}};
  const T inverse_c = joining::eliminate_quickly<3, 2>(rows), inverse_d = joining::eliminate_quickly<2, 3>(rows);
  const auto &c = rows[3], &d = rows[2];
  joint = {c.c[0], c.c[1], c.c[3], c.c[4], c.c[5], c.r, inverse_c, d.c[0], d.c[1], d.c[4], d.c[5], d.r, inverse_d};
  return {{rows[0].c[0], rows[0].c[1], rows[0].c[4], rows[0].c[5], rows[0].r},
          {rows[1].c[0], rows[1].c[1], rows[1].c[4], rows[1].c[5], rows[1].r}};
}

}  // namespace tesela::tridiagonal
