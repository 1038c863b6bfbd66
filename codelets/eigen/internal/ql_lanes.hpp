#pragma once

#include <tesela/codelets/eigen/internal/columns.hpp>
#include <tesela/codelets/eigen/internal/ql_steps.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::kernels::ql {

/// Implicit QL of several tridiagonal matrices of one order at once, a matrix a lane: a sweep is one chain of square
/// roots and quotients, and the lanes' chains run side by side in vector registers. Each lane has its own window of
/// rows; outside it the lane stands still. Rotations are recorded, and given away a few sweeps at a time.
template <class T>
class LaneSweeps {
 public:
  static constexpr int lanes = 64 / sizeof(T);
  static constexpr index_t most_recorded = 8;  ///< sweeps

  struct alignas(32) Lane {
    T at[lanes];
  };
  /// Rows [from, to) of a lane in one recorded sweep.
  struct Window {
    int from, to;
  };

  LaneSweeps(index_t order, bool with_rotations)
      : n_(order),
        record_(with_rotations),
        d_(static_cast<std::size_t>(order)),
        e_(static_cast<std::size_t>(order)),
        c_(static_cast<std::size_t>(with_rotations ? order * most_recorded : 0)),
        s_(c_.size()) {}

  /// Diagonal and off-diagonal (row i joins i and i + 1) of every lane: entries of size 1, up to the order. Zeros take
  /// no sweep.
  T& d(index_t i, int lane) { return d_[static_cast<std::size_t>(i)].at[lane]; }
  T& e(index_t i, int lane) { return e_[static_cast<std::size_t>(i)].at[lane]; }
  /// 1 + the row where a lane did not converge, or 0.
  int broken(int lane) const { return broken_[lane]; }

  void restart() {
    for (int k = 0; k < lanes; ++k) first_[k] = 0, tried_[k] = 0, broken_[k] = 0;
  }

  /// Goes on until all lanes are diagonal (false), or the record is full (true).
  TESELA_INLINE bool advance() {
    recorded_ = 0;
    while (!record_ || recorded_ < most_recorded) {
      const Window rows = find_windows();
      if (rows.from >= rows.to) return false;
      sweep(rows);
      ++recorded_;
    }
    return true;
  }

  /// What advance() recorded for a lane, in order: f(window, c, s), the rotation of columns i and i + 1 at
  /// c[i].at[lane].
  template <class F>
  TESELA_INLINE void for_each_recorded(int lane, F&& f) const {
    for (index_t r = 0; r < recorded_; ++r)
      if (const Window w = windows_[r][lane]; w.from < w.to) f(w, &c_[static_cast<std::size_t>(r * n_)], s_at(r));
  }

 private:
  using V = Lanes<T>;
  static constexpr int width = LanesOf<T>::count;
  struct Some {
    V v;
    TESELA_INLINE Some(const Lane& from, int k) { load(v, from.at + k); }
  };

  const Lane* s_at(index_t r) const { return &s_[static_cast<std::size_t>(r * n_)]; }

  TESELA_INLINE bool negligible_at(index_t i, int k) const {
    const T size = std::abs(e_[static_cast<std::size_t>(i)].at[k]);
    return size <= negligible<T> || size <= rounding<T> * (std::abs(d_[static_cast<std::size_t>(i)].at[k]) +
                                                           std::abs(d_[static_cast<std::size_t>(i + 1)].at[k]));
  }

  /// Sets every lane's rows [low, high] of the next sweep, and answers what all of them span. Row numbers are kept as
  /// T, so that they compare in the lanes of the numbers.
  TESELA_INLINE Window find_windows() {
    const auto n = static_cast<int>(n_);
    int least = n;
    for (int k = 0; k < lanes; ++k) {
      for (; first_[k] < n - 1 && negligible_at(first_[k], k); ++first_[k]) tried_[k] = 0;
      if (first_[k] < n - 1 && tried_[k]++ == most_sweeps) broken_[k] = first_[k] + 1, first_[k] = n;
      least = std::min(least, first_[k]);
      low_.at[k] = static_cast<T>(first_[k]);
      high_.at[k] = static_cast<T>(first_[k] < n - 1 ? n - 1 : 0);
    }
    if (least >= n - 1) return {0, 0};
    for (int i = n - 2; i > least; --i)
      for (int k = 0; k < lanes; k += width) {
        const auto row = static_cast<std::size_t>(i);
        const Some e(e_[row], k), d(d_[row], k), after(d_[row + 1], k), low(low_, k), high(high_, k);
        const V at = V{} + static_cast<T>(i), size = e.v < 0 ? -e.v : e.v,
                limit = rounding<T> * ((d.v < 0 ? -d.v : d.v) + (after.v < 0 ? -after.v : after.v));
        const auto ends = (at > low.v) & ((size <= negligible<T>) | (size <= limit));
        store(high_.at + k, V(ends ? at : high.v));
      }
    int most = 0;
    for (int k = 0; k < lanes; ++k) {
      if (high_.at[k] < low_.at[k]) high_.at[k] = low_.at[k];  // it stands still
      if (high_.at[k] > low_.at[k]) most = std::max(most, static_cast<int>(high_.at[k]));
    }
    return {least, most};
  }

  /// ql::sweep in every lane.
  TESELA_INLINE void sweep(Window rows) {
    Lane g, p = {}, c, s, at_low, after, at_high, off;
    for (int k = 0; k < lanes; ++k) {
      const auto l = static_cast<std::size_t>(high_.at[k] > low_.at[k] ? low_.at[k] : T(rows.from)),
                 m = static_cast<std::size_t>(high_.at[k] > low_.at[k] ? high_.at[k] : T(rows.from));
      at_low.at[k] = d_[l].at[k], after.at[k] = d_[l + 1].at[k], off.at[k] = e_[l].at[k], at_high.at[k] = d_[m].at[k];
    }
    for (int k = 0; k < lanes; ++k) {
      const T q = (after.at[k] - at_low.at[k]) / (2 * off.at[k]), r = std::sqrt(q * q + 1),
              step = q + std::copysign(r, q), shift = off.at[k] / step;  // an infinite step: none
      g.at[k] = at_high.at[k] - at_low.at[k] + shift;
      c.at[k] = s.at[k] = 1;
    }
    Lane last = low_;
    for (int i = rows.to - 1; i >= rows.from; --i) step(i, g, p, c, s, last);
    for (int k = 0; k < lanes; ++k) {
      const auto from = static_cast<int>(last.at[k]), to = static_cast<int>(high_.at[k]);
      const bool moved = high_.at[k] > low_.at[k];
      if (record_) windows_[recorded_][k] = moved ? Window{from, to} : Window{0, 0};
      if (!moved) continue;
      d(from, k) -= p.at[k];
      e(from, k) = g.at[k];
      e(to, k) = 0;
    }
  }

  /// The rotation of rows i and i + 1.
  TESELA_INLINE void step(int i, Lane& g, Lane& p, Lane& c, Lane& s, Lane& last) {
    for (int k = 0; k < lanes; k += width) step(i, k, g, p, c, s, last);
    if (!record_) return;
    c_[static_cast<std::size_t>(recorded_ * n_ + i)] = c;
    s_[static_cast<std::size_t>(recorded_ * n_ + i)] = s;
  }
  TESELA_INLINE void step(int i, int k, Lane& g, Lane& p, Lane& c, Lane& s, Lane& last) {
    const auto row = static_cast<std::size_t>(i);
    const Some d0(d_[row], k), d1(d_[row + 1], k), e0(e_[row], k), e1(e_[row + 1], k), gs(g, k), ps(p, k), cs(c, k),
        ss(s, k), ends(last, k), begins(high_, k);
    const V zero = {}, one = zero + 1, at = zero + static_cast<T>(i);
    const V f = ss.v * e0.v, b = cs.v * e0.v, size = (f < 0 ? -f : f) + (gs.v < 0 ? -gs.v : gs.v);
    const auto inside = (at >= ends.v) & (at < begins.v), apart = inside & (size == zero),
               turn = inside & (size != zero);
    const V up = size < tiny<T> ? zero + 1 / tiny<T> : one, down = size < tiny<T> ? zero + tiny<T> : one, fu = f * up,
            gu = gs.v * up;
    V r = fu * fu + gu * gu;
    for (int j = 0; j < width; ++j) r[j] = std::sqrt(r[j]);
    const V sine = fu / r, cosine = gu / r, over = d1.v - ps.v, next = (d0.v - over) * sine + 2 * cosine * b,
            share = sine * next;
    store(last.at + k, V(apart ? at + 1 : ends.v));  // T falls apart here: the sweep ends above
    store(e_[row + 1].at + k, V(turn ? r * down : e1.v));
    store(d_[row + 1].at + k, V(turn ? over + share : d1.v));
    store(p.at + k, V(turn ? share : ps.v));
    store(g.at + k, V(turn ? cosine * next - b : gs.v));
    store(c.at + k, V(turn ? cosine : cs.v));
    store(s.at + k, V(turn ? sine : ss.v));
  }

  index_t n_;
  bool record_;
  index_t recorded_ = 0;
  std::vector<Lane> d_, e_, c_, s_;
  Lane low_, high_;
  int first_[lanes] = {}, tried_[lanes] = {}, broken_[lanes] = {};
  Window windows_[most_recorded][lanes];
};

}  // namespace tesela::kernels::ql
