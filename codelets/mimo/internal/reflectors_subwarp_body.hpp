#pragma once

#include <tesela/codelets/mimo/internal/channel_body.hpp>

// QR factorizations of small matrices by groups of S lanes of a warp: a lane holds one column in registers. Warp is the
// device's, or in tests the host's. Internal to codelets/mimo.

/// TESELA_FLAT precedes a loop of known length, whose indexed arrays stay in registers on a GPU; TESELA_ROLLED precedes
/// a long loop that indexes no such array.
#if defined(__CUDA_ARCH__)
#define TESELA_FLAT _Pragma("unroll")
#define TESELA_ROLLED _Pragma("unroll 1")
#else
#define TESELA_FLAT
#define TESELA_ROLLED
#endif

namespace tesela::kernels::mimo {

inline constexpr int warp_lanes = 32;

template <class Warp, class T>
TESELA_INLINE T from_lane(Warp& warp, T x, int source) {
  return warp.from(x, source);
}
template <class Warp, class T>
TESELA_INLINE Complex<T> from_lane(Warp& warp, Complex<T> x, int source) {
  return {warp.from(x.re, source), warp.from(x.im, source)};
}

/// Returns sum + conj(x) y, or sum - x y, with the fewest operations.
template <class T>
TESELA_INLINE T plus_dot(T sum, T x, T y) {
  return sum + x * y;
}
template <class T>
TESELA_INLINE Complex<T> plus_dot(Complex<T> sum, Complex<T> x, Complex<T> y) {
  return {sum.re + x.re * y.re + x.im * y.im, sum.im + x.re * y.im - x.im * y.re};
}
template <class T>
TESELA_INLINE T minus_product(T sum, T x, T y) {
  return sum - x * y;
}
template <class T>
TESELA_INLINE Complex<T> minus_product(Complex<T> sum, Complex<T> x, Complex<T> y) {
  return {sum.re - x.re * y.re + x.im * y.im, sum.im - x.re * y.im - x.im * y.re};
}

/// Returns 1 / x, or the root of x, for x neither tiny nor huge: on a GPU in single precision by one Newton step from
/// its approximations.
template <class T>
TESELA_INLINE T inverse_of(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    const T near = __fdividef(T(1), x);
    return near + near * (1 - x * near);
  }
#endif
  return 1 / x;
}
template <class T>
TESELA_INLINE T root_of(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    const T inverse = rsqrtf(x), near = x * inverse;
    return near + T(0.5) * inverse * (x - near * near);
  }
#endif
  return std::sqrt(x);
}

/// A lane's group: its first lane, and the index of this lane's column.
template <int S, class Warp>
struct Group {
  Warp& warp;
  int base, j;
  TESELA_INLINE explicit Group(Warp& w) : warp(w), base(w.lane() / S * S), j(w.lane() % S) {}
  template <class F>
  TESELA_INLINE F from(F x, int column) const {
    return from_lane(warp, x, base + column);
  }
  template <class T>
  TESELA_INLINE T largest(T x) const {
    TESELA_FLAT
    for (int d = 1; d < S; d *= 2) {
      const T other = from(x, j ^ d);
      x = other > x ? other : x;
    }
    return x;
  }
  template <class T>
  TESELA_INLINE T sum(T x) const {
    TESELA_FLAT
    for (int d = 1; d < S; d *= 2) x += from(x, j ^ d);
    return x;
  }
};

/// Columns of a group's matrix, S rows; rows from m on are zero. Row indices k are compile-time constants.
template <class F, int S, class Warp>
struct SubwarpColumns {
  using T = real_t<F>;
  Group<S, Warp> group;
  F x[S];
  F tau = number<F>(0), inverse = number<F>(0);  ///< inverse: pending factor of the reflector
  int from;                                      ///< index of this column in the matrix

  TESELA_INLINE explicit SubwarpColumns(Warp& warp) : group(warp), from(group.j) {}

  /// Moves the column with the least residual, among columns k … n - 1, to place k.
  TESELA_INLINE void sort(int k, int n) {
    T least = 0;
    TESELA_FLAT
    for (int i = 0; i < S; ++i) least += i >= k ? norm(x[i]) : T(0);
    int next = group.j;
    bool there = group.j >= k && group.j < n;
    TESELA_FLAT
    for (int d = 1; d < S; d *= 2) {
      const T other = group.from(least, group.j ^ d);
      const int place = group.from(next, group.j ^ d);
      const bool theirs = group.from(there ? 1 : 0, group.j ^ d) != 0;
      if (theirs && (!there || other < least || (other == least && place < next))) least = other, next = place;
      there = there || theirs;
    }
    next = group.from(there ? next : k, 0);  // NaN must not make lanes differ
    if (!group.warp.any(next != k)) return;
    const int source = group.j == k ? next : group.j == next ? k : group.j;
    TESELA_FLAT
    for (int i = 0; i < S; ++i) x[i] = group.from(x[i], source);
    from = group.from(from, source);
  }

  /// Replaces column k by beta e1 and its reflector, and applies the reflector to all later columns (LAPACK larfg,
  /// larf). Sums of squares that might overflow or underflow use scaled numbers.
  TESELA_INLINE void reflect(int k) {
    constexpr T danger = sizeof(T) == 4 ? T(1e-18) : T(1e-150);
    const bool mine = group.j == k;
    T below = 0;
    TESELA_FLAT
    for (int i = 0; i < S; ++i) below += i > k ? norm(x[i]) : T(0);
    T sum = below + norm(x[k]);
    T up = 1;
    bool none = k == S - 1 && imag(x[k]) == 0;
    if (group.warp.any(mine && !none && !((k == S - 1 ? sum : below) > danger))) {
      T largest = 0;
      TESELA_FLAT
      for (int i = 0; i < S; ++i) largest = i > k && size_of(x[i]) > largest ? size_of(x[i]) : largest;
      none = largest == 0 && imag(x[k]) == 0;
      const T first = size_of(x[k]);
      constexpr int least = sizeof(T) == 4 ? -120 : -1000;  // the inverse of that power is representable, too
      const int found = mine ? exponent_of(first > largest ? first : largest) : 0;
      const int exponent = found > least ? found : least;
      const T down = std::ldexp(T(1), -exponent);
      up = std::ldexp(T(1), exponent);
      sum = 0;
      TESELA_FLAT
      for (int i = 0; i < S; ++i)
        if (i >= k) x[i] = down * x[i], sum += norm(x[i]);
    }
    const F alpha = x[k];
    const T root = root_of(sum), beta = real(alpha) > 0 ? -root : root;
    const F apart = alpha - number<F>(beta);
    const T size = norm(apart), both = inverse_of(size * beta);
    const F factor = none ? number<F>(0) : (beta * both) * conj(apart);
    const F own = none ? number<F>(0) : (size * both) * (number<F>(beta) - alpha);
    if (mine) tau = own, inverse = factor;
    const F f = group.from(factor, k), t = group.from(own, k);
    F u[S];
    F dot = number<F>(0);
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i > k) u[i] = group.from(x[i], k), dot = plus_dot(dot, u[i], x[i]);
    dot = group.j > k ? conj(t) * plus_dot(x[k], f, dot) : number<F>(0);
    const F step = f * dot;
    x[k] = mine ? number<F>(up * (none ? real(alpha) : beta)) : x[k] - dot;
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i > k) x[i] = minus_product(x[i], u[i], step);
  }

  /// Converts the reflectors to LAPACK's form after the last step.
  TESELA_INLINE void finish() {
    TESELA_FLAT
    for (int i = 1; i < S; ++i) x[i] = i > group.j ? inverse * x[i] : x[i];
  }

  /// Replaces y by Q^H y, one column y per lane.
  TESELA_INLINE void adjoint(int steps, F* y) const {
    TESELA_FLAT
    for (int k = 0; k < S; ++k) {
      if (k >= steps) break;
      const F t = conj(group.from(tau, k));
      F v[S];
      F dot = y[k];
      TESELA_FLAT
      for (int i = k + 1; i < S; ++i) v[i] = group.from(x[i], k), dot += conj(v[i]) * y[i];
      dot = t * dot;
      y[k] -= dot;
      TESELA_FLAT
      for (int i = k + 1; i < S; ++i) y[i] -= v[i] * dot;
    }
  }
};

}  // namespace tesela::kernels::mimo
