#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>

// Real and complex numbers, for cores and GPUs. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// A complex number, in memory like std::complex.
template <class T>
struct Complex {
  T re = 0, im = 0;
};

template <class F>
struct NumberOf {
  using Real = F;
  static constexpr bool complex = false;
};
template <class T>
struct NumberOf<Complex<T>> {
  using Real = T;
  static constexpr bool complex = true;
};
template <class F>
using RealOf = typename NumberOf<F>::Real;

template <class T>
TESELA_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
TESELA_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
TESELA_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
TESELA_INLINE Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
template <class T>
TESELA_INLINE Complex<T> operator/(Complex<T> a, T b) {
  return {a.re / b, a.im / b};
}
template <class F>
TESELA_INLINE F& operator+=(F& a, F b) requires NumberOf<F>::complex {
  return a = a + b;
}
template <class F>
TESELA_INLINE F& operator-=(F& a, F b) requires NumberOf<F>::complex {
  return a = a - b;
}

TESELA_INLINE float conj(float x) { return x; }
TESELA_INLINE double conj(double x) { return x; }
template <class T>
TESELA_INLINE Complex<T> conj(Complex<T> x) {
  return {x.re, -x.im};
}
TESELA_INLINE float real(float x) { return x; }
TESELA_INLINE double real(double x) { return x; }
template <class T>
TESELA_INLINE T real(Complex<T> x) {
  return x.re;
}
TESELA_INLINE float imag(float) { return 0; }
TESELA_INLINE double imag(double) { return 0; }
template <class T>
TESELA_INLINE T imag(Complex<T> x) {
  return x.im;
}
/// Returns |x|^2.
template <class F>
TESELA_INLINE RealOf<F> norm(F x) {
  if constexpr (NumberOf<F>::complex)
    return x.re * x.re + x.im * x.im;
  else
    return x * x;
}
template <class F>
TESELA_INLINE F number(RealOf<F> x) {
  if constexpr (NumberOf<F>::complex)
    return {x, 0};
  else
    return x;
}
/// Converts to another precision.
template <class F, class X>
TESELA_INLINE F rounded(X x) {
  if constexpr (NumberOf<F>::complex)
    return {static_cast<RealOf<F>>(x.re), static_cast<RealOf<F>>(x.im)};
  else
    return static_cast<F>(x);
}
/// Type whose sums of squares keep the digits that single precision would lose.
template <class F>
struct DoubleOf {
  using type = double;
};
template <class T>
struct DoubleOf<Complex<T>> {
  using type = Complex<double>;
};
/// Returns the larger magnitude of both parts.
template <class F>
TESELA_INLINE RealOf<F> size_of(F x) {
  const auto re = std::fabs(real(x)), im = std::fabs(imag(x));
  return re > im ? re : im;
}

/// Every step-th number of memory that many threads share: a thread's numbers are apart, and the numbers of
/// neighbouring threads are side by side.
template <class F>
struct Interleaved {
  F* first = nullptr;
  index_t step = 1;
  TESELA_INLINE F& operator[](index_t i) const { return first[i * step]; }
  TESELA_INLINE Interleaved operator+(index_t i) const { return {first + i * step, step}; }
};

/// Type of the elements behind a pointer or an Interleaved.
template <class P>
struct ElementOf;
template <class F>
struct ElementOf<F*> {
  using type = F;
};
template <class F>
struct ElementOf<const F*> {
  using type = F;
};
template <class F>
struct ElementOf<Interleaved<F>> {
  using type = F;
};
template <class P>
using Element = typename ElementOf<P>::type;

}  // namespace tesela::kernels::mimo
