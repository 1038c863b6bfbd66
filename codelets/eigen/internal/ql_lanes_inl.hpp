// QL sweeps of several small matrices at once. Guarded by Highway's toggle, like vectors_inl.hpp. Internal to
// codelets/eigen.
#include <tesela/codelets/eigen/internal/lanes_inl.hpp>
#include <tesela/codelets/eigen/internal/ql_steps.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#if defined(TESELA_EIGEN_QL_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_QL_LANES_INL
#undef TESELA_EIGEN_QL_LANES_INL
#else
#define TESELA_EIGEN_QL_LANES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {

using ql::most_sweeps, ql::negligible, ql::rounding, ql::tiny;

/// Implicit QL of several tridiagonal matrices of one order at once, one matrix per lane of a few vectors. A sweep is
/// one chain of square roots and quotients, and the lanes' chains run in parallel. Each lane has a window of rows, and
/// a sweep does not change the lane outside it. Rotations are recorded for a few sweeps at a time.
template <class T>
class LaneSweeps {
 public:
  static constexpr int matrices = 64 / sizeof(T);
  static constexpr index_t most_recorded = 8;  ///< sweeps

  struct alignas(32) Lane {
    T at[matrices];
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

  /// Returns the diagonal, or the off-diagonal (row i joins i and i + 1), of every lane, up to the order; entries of
  /// size 1. Zero matrices need no sweep.
  T& d(index_t i, int lane) { return d_[static_cast<std::size_t>(i)].at[lane]; }
  T& e(index_t i, int lane) { return e_[static_cast<std::size_t>(i)].at[lane]; }
  /// Returns 1 + the row where a lane did not converge, or 0.
  int broken(int lane) const { return broken_[lane]; }

  void restart() {
    for (int k = 0; k < matrices; ++k) first_[k] = 0, tried_[k] = 0, broken_[k] = 0;
  }

  /// Sweeps until all lanes are diagonal (returns false) or the record is full (returns true).
  HWY_INLINE bool advance() {
    recorded_ = 0;
    while (!record_ || recorded_ < most_recorded) {
      const Window rows = find_windows();
      if (rows.from >= rows.to) return false;
      sweep(rows);
      ++recorded_;
    }
    return true;
  }

  /// Calls f(window, c, s) for each sweep of a lane that advance() recorded, in order. c[i].at[lane] and s[i].at[lane]
  /// rotate columns i and i + 1.
  template <class F>
  HWY_INLINE void for_each_recorded(int lane, F&& f) const {
    for (index_t r = 0; r < recorded_; ++r)
      if (const Window w = windows_[r][lane]; w.from < w.to) f(w, &c_[static_cast<std::size_t>(r * n_)], s_at(r));
  }

 private:
  using V = Vec<T>;
  static constexpr int width = lanes<T>;

  const Lane* s_at(index_t r) const { return &s_[static_cast<std::size_t>(r * n_)]; }

  HWY_INLINE bool negligible_at(index_t i, int k) const {
    const T size = std::abs(e_[static_cast<std::size_t>(i)].at[k]);
    return size <= negligible<T> || size <= rounding<T> * (std::abs(d_[static_cast<std::size_t>(i)].at[k]) +
                                                           std::abs(d_[static_cast<std::size_t>(i + 1)].at[k]));
  }

  /// Sets every lane's rows [low, high] of the next sweep, and returns the window around all of them. Row numbers have
  /// type T, so that they compare in the lanes of the numbers.
  HWY_INLINE Window find_windows() {
    const auto n = static_cast<int>(n_);
    int least = n;
    for (int k = 0; k < matrices; ++k) {
      for (; first_[k] < n - 1 && negligible_at(first_[k], k); ++first_[k]) tried_[k] = 0;
      if (first_[k] < n - 1 && tried_[k]++ == most_sweeps) broken_[k] = first_[k] + 1, first_[k] = n;
      least = std::min(least, first_[k]);
      low_.at[k] = static_cast<T>(first_[k]);
      high_.at[k] = static_cast<T>(first_[k] < n - 1 ? n - 1 : 0);
    }
    if (least >= n - 1) return {0, 0};
    for (int i = n - 2; i > least; --i)
      for (int k = 0; k < matrices; k += width) {
        const auto row = static_cast<std::size_t>(i);
        const V size = hn::Abs(load(e_[row].at + k)), high = load(high_.at + k),
                limit = hn::Mul(all(rounding<T>),
                                hn::Add(hn::Abs(load(d_[row].at + k)), hn::Abs(load(d_[row + 1].at + k)))),
                at = all(static_cast<T>(i));
        const auto small = hn::Or(hn::Le(size, all(negligible<T>)), hn::Le(size, limit));
        store(high_.at + k, hn::IfThenElse(hn::And(hn::Gt(at, load(low_.at + k)), small), at, high));
      }
    int most = 0;
    for (int k = 0; k < matrices; ++k) {
      if (high_.at[k] < low_.at[k]) high_.at[k] = low_.at[k];  // the sweep skips this lane
      if (high_.at[k] > low_.at[k]) most = std::max(most, static_cast<int>(high_.at[k]));
    }
    return {least, most};
  }

  /// Performs ql::sweep in every lane.
  HWY_INLINE void sweep(Window rows) {
    Lane g, p = {}, c, s, at_low, after, at_high, off;
    for (int k = 0; k < matrices; ++k) {
      const auto l = static_cast<std::size_t>(high_.at[k] > low_.at[k] ? low_.at[k] : T(rows.from)),
                 m = static_cast<std::size_t>(high_.at[k] > low_.at[k] ? high_.at[k] : T(rows.from));
      at_low.at[k] = d_[l].at[k], after.at[k] = d_[l + 1].at[k], off.at[k] = e_[l].at[k], at_high.at[k] = d_[m].at[k];
    }
    for (int k = 0; k < matrices; k += width) {
      const V low = load(at_low.at + k), e = load(off.at + k),
              q = hn::Div(hn::Sub(load(after.at + k), low), hn::Add(e, e)), r = hn::Sqrt(hn::MulAdd(q, q, all(T(1)))),
              to = hn::Add(q, hn::CopySign(r, q)), shift = hn::Div(e, to);  // an infinite denominator: no shift
      store(g.at + k, hn::Add(hn::Sub(load(at_high.at + k), low), shift));
      store(c.at + k, all(T(1))), store(s.at + k, all(T(1)));
    }
    Lane last = low_;
    for (int i = rows.to - 1; i >= rows.from; --i) step(i, g, p, c, s, last);
    for (int k = 0; k < matrices; ++k) {
      const auto from = static_cast<int>(last.at[k]), to = static_cast<int>(high_.at[k]);
      const bool moved = high_.at[k] > low_.at[k];
      if (record_) windows_[recorded_][k] = moved ? Window{from, to} : Window{0, 0};
      if (!moved) continue;
      d(from, k) -= p.at[k];
      e(from, k) = g.at[k];
      e(to, k) = 0;
    }
  }

  /// Computes the rotation of rows i and i + 1.
  HWY_INLINE void step(int i, Lane& g, Lane& p, Lane& c, Lane& s, Lane& last) {
    for (int k = 0; k < matrices; k += width) step(i, k, g, p, c, s, last);
    if (!record_) return;
    c_[static_cast<std::size_t>(recorded_ * n_ + i)] = c;
    s_[static_cast<std::size_t>(recorded_ * n_ + i)] = s;
  }
  HWY_INLINE void step(int i, int k, Lane& g, Lane& p, Lane& c, Lane& s, Lane& last) {
    const auto row = static_cast<std::size_t>(i);
    const V d0 = load(d_[row].at + k), d1 = load(d_[row + 1].at + k), e0 = load(e_[row].at + k),
            e1 = load(e_[row + 1].at + k), gs = load(g.at + k), ps = load(p.at + k), cs = load(c.at + k),
            ss = load(s.at + k), ends = load(last.at + k), zero = zeros<T>(), one = all(T(1)),
            at = all(static_cast<T>(i));
    const V f = hn::Mul(ss, e0), b = hn::Mul(cs, e0), size = hn::Add(hn::Abs(f), hn::Abs(gs));
    const auto inside = hn::And(hn::Ge(at, ends), hn::Lt(at, load(high_.at + k))), none = hn::Eq(size, zero),
               apart = hn::And(inside, none), turn = hn::AndNot(none, inside), small = hn::Lt(size, all(tiny<T>));
    const V up = hn::IfThenElse(small, all(1 / tiny<T>), one), down = hn::IfThenElse(small, all(tiny<T>), one),
            fu = hn::Mul(f, up), gu = hn::Mul(gs, up), r = hn::Sqrt(hn::MulAdd(fu, fu, hn::Mul(gu, gu))),
            sine = hn::Div(fu, r), cosine = hn::Div(gu, r), over = hn::Sub(d1, ps),
            next = hn::MulAdd(hn::Sub(d0, over), sine, hn::Mul(hn::Add(cosine, cosine), b)),
            share = hn::Mul(sine, next);
    store(last.at + k, hn::IfThenElse(apart, hn::Add(at, one), ends));  // T splits here: the sweep ends above
    store(e_[row + 1].at + k, hn::IfThenElse(turn, hn::Mul(r, down), e1));
    store(d_[row + 1].at + k, hn::IfThenElse(turn, hn::Add(over, share), d1));
    store(p.at + k, hn::IfThenElse(turn, share, ps));
    store(g.at + k, hn::IfThenElse(turn, hn::MulSub(cosine, next, b), gs));
    store(c.at + k, hn::IfThenElse(turn, cosine, cs));
    store(s.at + k, hn::IfThenElse(turn, sine, ss));
  }

  index_t n_;
  bool record_;
  index_t recorded_ = 0;
  std::vector<Lane> d_, e_, c_, s_;
  Lane low_, high_;
  int first_[matrices] = {}, tried_[matrices] = {}, broken_[matrices] = {};
  Window windows_[most_recorded][matrices];
};

}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
