#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_segment.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/types.hpp>

#include <type_traits>

// Rows of one system for both variants of ReduceSystems. Internal to codelets/.

namespace tesela::kernels::parallel {

template <class T>
TESELA_BOTH real_t<T> size_of(T x) {
  return tridiagonal::magnitude(x);
}
template <class T>
TESELA_BOTH bool finite(T x) {
  return x - x == T(0);
}
template <class T>
TESELA_BOTH bool usable(T d) {
  return d != T(0) && finite(d);
}
/// Returns the larger number, or NaN if one is NaN.
template <class T>
TESELA_BOTH T larger(T a, T b) {
  return a >= b || a != a ? a : b;
}

template <class T>
struct Equation {
  T dl, d, du, b;
};

/// Returns a power of two that brings the sum of the coefficients' sizes into [2, 4).
template <class T>
TESELA_BOTH real_t<T> row_scale(const Equation<T>& e) {
  const real_t<T> size = size_of(e.d) + size_of(e.dl) + size_of(e.du);
  return size == 0 ? real_t<T>(1) : tridiagonal::over_power(size);
}
template <class T>
TESELA_BOTH Equation<T> scaled(const Equation<T>& e) {
  const real_t<T> scale = row_scale(e);
  return {e.dl * scale, e.d * scale, e.du * scale, e.b * scale};
}

/// Every `step`-th row of a system, from `start` on.
template <class E>
struct Rows {
  E *dl, *d, *du, *b;
  index_t start, step, count;
  TESELA_BOTH index_t at(index_t k) const { return start + k * step; }
  /// Returns row k; elements that couple to nothing are not read.
  TESELA_BOTH auto operator()(index_t k) const {
    const index_t i = at(k);
    using T = std::remove_const_t<E>;
    return Equation<T>{k > 0 ? dl[i] : T(0), d[i], k + 1 < count ? du[i] : T(0), b[i]};
  }
};

/// Calls f(k) for all k < count on the threads of the team, and waits for them.
template <class Team, class F>
TESELA_BOTH void each(Team team, index_t count, F f) {
  for (index_t k = team.rank(); k < count; k += team.size()) f(k);
  team.sync();
}

}  // namespace tesela::kernels::parallel
