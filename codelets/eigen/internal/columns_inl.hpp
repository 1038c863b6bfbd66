// Loops over a few columns, one vector of each at a time. Complex numbers have plain loops, which the compiler
// vectorizes. Guarded by Highway's toggle, like vectors_inl.hpp. Internal to codelets/eigen.
#include <tesela/codelets/eigen/internal/lanes_inl.hpp>
#include <tesela/runtime/scalar.hpp>

#if defined(TESELA_EIGEN_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_COLUMNS_INL
#undef TESELA_EIGEN_COLUMNS_INL
#else
#define TESELA_EIGEN_COLUMNS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {

/// Returns x^H y.
template <class T>
HWY_INLINE T dot(index_t n, const T* x, const T* y) {
  constexpr index_t w = lanes<T>;
  Vec<T> s0 = zeros<T>(), s1 = zeros<T>();
  index_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    s0 = hn::MulAdd(load(x + i), load(y + i), s0);
    s1 = hn::MulAdd(load(x + i + w), load(y + i + w), s1);
  }
  T s = sum<T>(hn::Add(s0, s1));
  for (; i < n; ++i) s += x[i] * y[i];
  return s;
}

template <class T>
requires(is_complex<T>) HWY_INLINE T dot(index_t n, const T* x, const T* y) {
  T s = 0;
  for (index_t i = 0; i < n; ++i) s += times(conj(x[i]), y[i]);
  return s;
}

/// Returns the sum of n squares, for Reflector.
template <class T>
struct SquaresOf {
  HWY_INLINE T operator()(index_t n, const T* x) const { return dot(n, x, x); }
};

/// A copy of a few numbers, pointers or vectors that no store can change, so that they stay in registers.
template <int C, class T>
struct Few {
  T at[C];
  HWY_INLINE explicit Few(const T* from) {
    for (int c = 0; c < C; ++c) at[c] = from[c];
  }
  HWY_INLINE const T& operator[](index_t c) const { return at[c]; }
};
template <int C, class T>
struct GroupWeights {
  Vec<T> at[C];
  HWY_INLINE explicit GroupWeights(const T* from) {
    for (int c = 0; c < C; ++c) at[c] = all(from[c]);
  }
  HWY_INLINE Vec<T> operator[](index_t c) const { return at[c]; }
};

/// Computes y_i += sum_c a_c(i) x_c for begin <= i < end with weights x, and dots_c += a_c^H z over these rows.
template <int C, bool with_dots, class T>
HWY_INLINE void multiply(index_t begin, index_t end, const T* const* columns, const T* weights, T* y, const T* z,
                         T* dots) {
  const Few<C, const T*> a(columns);
  const Few<C, T> x(weights);
  const GroupWeights<C, T> xs(weights);
  constexpr index_t w = lanes<T>;
  Vec<T> sums[C];
  for (int c = 0; c < C; ++c) sums[c] = zeros<T>();
  index_t i = begin;
  for (; i + w <= end; i += w) {
    Vec<T> yi = load(y + i), zi = zeros<T>();
    if constexpr (with_dots) zi = load(z + i);
    for (int c = 0; c < C; ++c) {
      const Vec<T> ai = load(a[c] + i);
      yi = hn::MulAdd(ai, xs[c], yi);
      if constexpr (with_dots) sums[c] = hn::MulAdd(ai, zi, sums[c]);
    }
    store(y + i, yi);
  }
  if constexpr (with_dots)
    for (int c = 0; c < C; ++c) dots[c] += sum<T>(sums[c]);
  for (; i < end; ++i)
    for (int c = 0; c < C; ++c) {
      y[i] += a[c][i] * x[c];
      if constexpr (with_dots) dots[c] += a[c][i] * z[i];
    }
}

template <int C, bool with_dots, class T>
requires(is_complex<T>) HWY_INLINE
    void multiply(index_t begin, index_t end, const T* const* columns, const T* weights, T* y, const T* z, T* dots) {
  for (int c = 0; c < C; ++c) {
    const T* const a = columns[c];
    for (index_t i = begin; i < end; ++i) {
      y[i] += times(a[i], weights[c]);
      if constexpr (with_dots) dots[c] += times(conj(a[i]), z[i]);
    }
  }
}

/// Computes a_c -= y conj(p_c), then dots_c += a_c^H z, over n rows.
template <int C, class T>
HWY_INLINE void update(index_t n, T* const* columns, const T* y, const T* weights, const T* z, T* dots) {
  const Few<C, T*> a(columns);
  const Few<C, T> p(weights);
  const GroupWeights<C, T> ps(weights);
  constexpr index_t w = lanes<T>;
  Vec<T> sums[C];
  for (int c = 0; c < C; ++c) sums[c] = zeros<T>();
  index_t i = 0;
  for (; i + w <= n; i += w) {
    const Vec<T> yi = load(y + i), zi = load(z + i);
    for (int c = 0; c < C; ++c) {
      const Vec<T> ai = hn::NegMulAdd(yi, ps[c], load(a[c] + i));
      sums[c] = hn::MulAdd(ai, zi, sums[c]);
      store(a[c] + i, ai);
    }
  }
  for (int c = 0; c < C; ++c) dots[c] += sum<T>(sums[c]);
  for (; i < n; ++i)
    for (int c = 0; c < C; ++c) {
      a[c][i] -= y[i] * p[c];
      dots[c] += a[c][i] * z[i];
    }
}

template <int C, class T>
requires(is_complex<T>) HWY_INLINE
    void update(index_t n, T* const* columns, const T* y, const T* weights, const T* z, T* dots) {
  for (int c = 0; c < C; ++c) {
    T* const a = columns[c];
    const T p = conj(weights[c]);
    for (index_t i = 0; i < n; ++i) {
      a[i] -= times(y[i], p);
      dots[c] += times(conj(a[i]), z[i]);
    }
  }
}

/// Computes a_c -= x conj(p_c), or with `two` a_c -= x conj(p_c) + y conj(q_c), for begin <= i < end.
template <int C, bool two, class T>
HWY_INLINE void subtract(index_t begin, index_t end, T* const* columns, const T* x, const T* xs_weights, const T* y,
                         const T* ys_weights) {
  const Few<C, T*> a(columns);
  const Few<C, T> p(xs_weights), q(two ? ys_weights : xs_weights);
  const GroupWeights<C, T> ps(xs_weights), qs(two ? ys_weights : xs_weights);
  constexpr index_t w = lanes<T>;
  index_t i = begin;
  for (; i + w <= end; i += w) {
    const Vec<T> xi = load(x + i);
    Vec<T> yi = zeros<T>();
    if constexpr (two) yi = load(y + i);
    for (int c = 0; c < C; ++c) {
      Vec<T> ai = hn::NegMulAdd(xi, ps[c], load(a[c] + i));
      if constexpr (two) ai = hn::NegMulAdd(yi, qs[c], ai);
      store(a[c] + i, ai);
    }
  }
  for (; i < end; ++i)
    for (int c = 0; c < C; ++c) {
      a[c][i] -= x[i] * p[c];
      if constexpr (two) a[c][i] -= y[i] * q[c];
    }
}
template <int C, bool two, class T>
requires(is_complex<T>) HWY_INLINE void subtract(index_t begin, index_t end, T* const* columns, const T* x,
                                                 const T* xs_weights, const T* y, const T* ys_weights) {
  for (int c = 0; c < C; ++c) {
    T* const a = columns[c];
    const T p = conj(xs_weights[c]), q = conj(two ? ys_weights[c] : T());
    for (index_t i = begin; i < end; ++i) {
      a[i] -= times(x[i], p);
      if constexpr (two) a[i] -= times(y[i], q);
    }
  }
}

}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
