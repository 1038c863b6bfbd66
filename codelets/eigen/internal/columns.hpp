#pragma once

#include <tesela/codelets/eigen/internal/lanes.hpp>
#include <tesela/runtime/types.hpp>

// What is done to a few columns at once, 32 bytes of each at a time. Internal to codelets/eigen.

namespace tesela::kernels::eigen {

template <class T>
TESELA_INLINE T dot(index_t n, const T* x, const T* y) {
  using V = Lanes<T>;
  constexpr index_t lanes = LanesOf<T>::count;
  V s0 = {}, s1 = {};
  index_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    V x0, x1, y0, y1;
    load(x0, x + i);
    load(y0, y + i);
    load(x1, x + i + lanes);
    load(y1, y + i + lanes);
    s0 += x0 * y0;
    s1 += x1 * y1;
  }
  s0 += s1;
  T s = sum_of_lanes<T>(s0);
  for (; i < n; ++i) s += x[i] * y[i];
  return s;
}

/// A few numbers or pointers of its own, which no store can change: they stay in registers.
template <int C, class T>
struct Few {
  T at[C];
  TESELA_INLINE explicit Few(const T* from) {
    for (int c = 0; c < C; ++c) at[c] = from[c];
  }
  TESELA_INLINE const T& operator[](index_t c) const { return at[c]; }
};

/// y_i += sum_c a_c(i) x_c for begin <= i < end, and dots_c += a_c . z over these rows, x being the weights.
template <int C, bool with_dots, class T>
TESELA_INLINE void multiply(index_t begin, index_t end, const T* const* columns, const T* weights, T* y, const T* z,
                            T* dots) {
  const Few<C, const T*> a(columns);
  const Few<C, T> x(weights);
  using V = Lanes<T>;
  constexpr index_t lanes = LanesOf<T>::count;
  V sums[C] = {};
  index_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    V yi, zi;
    load(yi, y + i);
    if constexpr (with_dots) load(zi, z + i);
    for (int c = 0; c < C; ++c) {
      V ai;
      load(ai, a[c] + i);
      yi += ai * x[c];
      if constexpr (with_dots) sums[c] += ai * zi;
    }
    store(y + i, yi);
  }
  if constexpr (with_dots)
    for (int c = 0; c < C; ++c) dots[c] += sum_of_lanes<T>(sums[c]);
  for (; i < end; ++i)
    for (int c = 0; c < C; ++c) {
      y[i] += a[c][i] * x[c];
      if constexpr (with_dots) dots[c] += a[c][i] * z[i];
    }
}

/// a_c -= y p_c, and dots_c += a_c . z afterwards, over n rows.
template <int C, class T>
TESELA_INLINE void update(index_t n, T* const* columns, const T* y, const T* weights, const T* z, T* dots) {
  const Few<C, T*> a(columns);
  const Few<C, T> p(weights);
  using V = Lanes<T>;
  constexpr index_t lanes = LanesOf<T>::count;
  V sums[C] = {};
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V yi, zi;
    load(yi, y + i);
    load(zi, z + i);
    for (int c = 0; c < C; ++c) {
      V ai;
      load(ai, a[c] + i);
      ai -= yi * p[c];
      sums[c] += ai * zi;
      store(a[c] + i, ai);
    }
  }
  for (int c = 0; c < C; ++c) dots[c] += sum_of_lanes<T>(sums[c]);
  for (; i < n; ++i)
    for (int c = 0; c < C; ++c) {
      a[c][i] -= y[i] * p[c];
      dots[c] += a[c][i] * z[i];
    }
}

/// a_c -= x p_c, or with two a_c -= x p_c + y q_c, for begin <= i < end.
template <int C, bool two, class T>
TESELA_INLINE void subtract(index_t begin, index_t end, T* const* columns, const T* x, const T* xs_weights, const T* y,
                            const T* ys_weights) {
  const Few<C, T*> a(columns);
  const Few<C, T> p(xs_weights), q(two ? ys_weights : xs_weights);
  using V = Lanes<T>;
  constexpr index_t lanes = LanesOf<T>::count;
  index_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    V xi, yi;
    load(xi, x + i);
    if constexpr (two) load(yi, y + i);
    for (int c = 0; c < C; ++c) {
      V ai;
      load(ai, a[c] + i);
      ai -= xi * p[c];
      if constexpr (two) ai -= yi * q[c];
      store(a[c] + i, ai);
    }
  }
  for (; i < end; ++i)
    for (int c = 0; c < C; ++c) {
      a[c][i] -= x[i] * p[c];
      if constexpr (two) a[c][i] -= y[i] * q[c];
    }
}

}  // namespace tesela::kernels::eigen
