#pragma once

#include <tesela/codelets/mimo/internal/reflectors_subwarp_body.hpp>

// Orders of the columns of a matrix held by a group of lanes, and the preparation of a channel in real form by it, both
// as in channel_body.hpp. A lane has its column x of the matrix, and its column c of the inverse of the Gram matrix.
// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

template <class F, int S, class Warp>
struct SubwarpOrder {
  using T = real_t<F>;
  Group<S, Warp> group;
  int n;
  bool left;  ///< this lane's column is not placed yet
  int place;  ///< its place
  F c[S];
  T diag;  ///< diagonal element of c

  TESELA_INLINE SubwarpOrder(Warp& warp, int columns) : group(warp), n(columns), left(group.j < n), place(group.j) {}

  /// Computes c of (A^H A + alpha2 I)^-1 by Gauss-Jordan elimination; a pivot lost to rounding is replaced.
  TESELA_INLINE void invert(int m, const F* x, T alpha2) {
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      c[i] = number<F>(i == group.j ? alpha2 : T(0));
      if (i >= n) continue;
      TESELA_FLAT
      for (int q = 0; q < S; ++q)
        if (q < m) c[i] = plus_dot(c[i], group.from(x[q], i), x[q]);
    }
    eliminate();
  }

  /// Replaces c by its inverse.
  TESELA_INLINE void eliminate() {
    const T trace = group.sum(left ? real(own(c)) : T(0));
    const T floor = (trace > 0 ? trace : T(1)) * (sizeof(T) == 4 ? T(1e-7) : T(1e-15));
    TESELA_ROLLED
    for (int k = 0; k < n; ++k) {
      const F present = element(c, k);
      const T found = group.from(real(present), k), pivot = found > floor ? found : floor;
      const bool mine = group.j == k;
      const F row = (mine ? number<F>(1) : present) / pivot;
      TESELA_FLAT
      for (int i = 0; i < S; ++i) {
        const F factor = group.from(c[i], k);
        c[i] = i == k ? row : (mine ? number<F>(0) : c[i]) - factor * row;
      }
    }
    diag = real(own(c));
  }

  /// Moves the column with the least key to place `last`, and returns which column that is.
  TESELA_INLINE int choose(T key, int last) {
    int taken = group.j;
    bool there = left;
    TESELA_FLAT
    for (int d = 1; d < S; d *= 2) {
      const T other = group.from(key, group.j ^ d);
      const int theirs = group.from(taken, group.j ^ d);
      const bool any = group.from(there ? 1 : 0, group.j ^ d) != 0;
      if (any && (!there || other < key || (other == key && theirs < taken))) key = other, taken = theirs;
      there = there || any;
    }
    taken = group.from(there ? taken : 0, 0);  // NaN keys must not make lanes differ
    if (group.j == taken) place = last, left = false;
    return taken;
  }

  /// Removes that column from c.
  TESELA_INLINE void remove(int gone) {
    const F mine = element(c, gone);
    const F factor = mine / group.from(diag, gone);
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i < n) c[i] -= group.from(c[i], gone) * factor;
    diag -= real(conj(mine) * factor);
  }

  TESELA_INLINE void vblast(int m, const F* x, T alpha2) {
    invert(m, x, alpha2);
    TESELA_ROLLED
    for (int last = n - 1; last >= 0; --last) remove(choose(diag, last));
  }

  /// b: x^H y of the lane's column x.
  TESELA_INLINE void su_wassell(int m, const T* x, T b, const SearchColumn& column) {
    invert(m, x, T(0));
    const T low = static_cast<T>(column.low), step = static_cast<T>(column.step);
    const T final = static_cast<T>(column.count - 1);
    TESELA_ROLLED
    for (int last = n - 1; last >= 0; --last) {
      const T weight = left ? b : T(0);
      T s = 0;
      TESELA_FLAT
      for (int i = 0; i < S; ++i)
        if (i < n) s += c[i] * group.from(weight, i);
      const T t = (s - low) / step, inside = t > 0 ? (t < final ? t : final) : T(0);
      const T nearest = std::floor(inside + T(0.5)), off = std::fabs(t - nearest);
      // The second nearest value is on the other side of t, except at an end.
      const bool end = (nearest == 0 && t < 0) || (nearest == final && t > final);
      const T second = (end ? off + 1 : 1 - off) * step;
      const int gone = choose(-second * second / diag, last);
      const T taken = group.from(low + nearest * step, gone);
      T dot = 0;
      TESELA_FLAT
      for (int q = 0; q < S; ++q)
        if (q < m) dot += x[q] * group.from(x[q], gone);
      b -= dot * taken;
      remove(gone);
    }
  }

  /// Returns the column that comes to this lane's place.
  TESELA_INLINE int source() const {
    int found = group.j;
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i < n && group.from(place, i) == group.j) found = i;
    return found;
  }

 private:
  /// Returns x[k] without an address that depends on k.
  TESELA_INLINE static F element(const F* x, int k) {
    F found = x[0];
    TESELA_FLAT
    for (int i = 1; i < S; ++i) found = i == k ? x[i] : found;
    return found;
  }
  TESELA_INLINE F own(const F* x) const { return element(x, group.j); }
};

TESELA_BOTH inline bool lanes_prepare(ColumnOrder order, index_t m, index_t n) {
  return m <= 16 && n <= 16 &&
         (order == ColumnOrder::natural || order == ColumnOrder::sqrd || order == ColumnOrder::vblast ||
          order == ColumnOrder::mmse_vblast || order == ColumnOrder::su_wassell);
}

/// Returns the column x of the scaled matrix that comes to this lane's place. Su and Wassell's order is computed in
/// double, because its channels are so ill conditioned that single precision loses their Gram matrix.
template <int S, class T, class Warp>
TESELA_INLINE int lane_order(Warp& warp, bool there, const ChannelView<T>& view, ColumnOrder kind, double n0,
                             const Complex<T>* y, int exponent, const T* x, const SearchColumn& column) {
  const int m = static_cast<int>(view.template rows<T>()), n = static_cast<int>(view.template cols<T>());
  if (kind != ColumnOrder::su_wassell) {
    SubwarpOrder<T, S, Warp> sorted(warp, n);
    sorted.vblast(m, x, kind == ColumnOrder::vblast ? T(0) : scaled_noise<T>(n0, exponent));
    return sorted.source();
  }
  const Scale<T> scale(exponent);
  double exact[S], b = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) {
    exact[i] = static_cast<double>(x[i]);
    if (!there || i >= m) continue;
    const int antennas = static_cast<int>(view.antennas);
    const Complex<T> heard = scale(y[i < antennas ? i : i - antennas]);
    b += exact[i] * static_cast<double>(i < antennas ? heard.re : heard.im);
  }
  SubwarpOrder<double, S, Warp> sorted(warp, n);
  sorted.su_wassell(m, exact, b, column);
  return sorted.source();
}

/// Prepares a channel. All lanes of a warp must call it; a group with `there` false writes nothing. y: for su_wassell.
template <int S, class T, class Warp, class P>
TESELA_INLINE void lane_channel(Warp& warp, bool there, const ChannelView<T>& view, ColumnOrder kind, double n0,
                                const Complex<T>* y, const P& a, const P& tau, const OrderOf& order,
                                ChannelFacts* facts) {
  const int m = static_cast<int>(view.template rows<T>()), n = static_cast<int>(view.template cols<T>());
  const int steps = m < n ? m : n;
  SubwarpColumns<T, S, Warp> own(warp);
  const int j = own.group.j;
  const bool mine = there && j < n;
  T largest = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) {
    own.x[i] = mine && i < m ? view.template element<T>(i, j) : T(0);
    largest = std::fabs(own.x[i]) > largest ? std::fabs(own.x[i]) : largest;
  }
  largest = own.group.largest(largest);
  const int exponent = exponent_of(largest);
  const Scale<T> scale(exponent);
  T sum = 0;
  TESELA_FLAT
  for (int i = 0; i < S; ++i) own.x[i] = scale(own.x[i]), sum += own.x[i] * own.x[i];
  const SearchColumn column = view.columns[j < n ? j : 0];
  const double reach = own.group.sum(mine ? std::sqrt(static_cast<double>(sum)) * column.largest : 0.0);
  if (kind != ColumnOrder::natural && kind != ColumnOrder::sqrd) {
    const int source = lane_order<S>(warp, there, view, kind, n0, y, exponent, own.x, column);
    TESELA_FLAT
    for (int i = 0; i < S; ++i) own.x[i] = own.group.from(own.x[i], source);
    own.from = own.group.from(own.from, source);
  }
  TESELA_FLAT
  for (int k = 0; k < S; ++k)
    if (k < steps) {
      if (kind == ColumnOrder::sqrd) own.sort(k, n);
      own.reflect(k);
    }
  own.finish();
  if (there && j == 0) *facts = {exponent, largest > 0 ? 0 : 1, reach};
  if (!mine) return;
  TESELA_FLAT
  for (int i = 0; i < S; ++i)
    if (i < m) a[i + j * m] = own.x[i];
  order[j] = own.from;
  if (j < steps) tau[j] = own.tau;
}

}  // namespace tesela::kernels::mimo
