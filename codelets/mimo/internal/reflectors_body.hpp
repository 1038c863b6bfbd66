#pragma once

#include <tesela/codelets/support/inline.hpp>
#include <tesela/codelets/support/internal/complex_number.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>

// Functions of real and complex numbers for cores and GPUs, and QR factorizations of small matrices by Householder
// reflectors, one matrix per thread, packed as by LAPACK's geqrf, without gaps between columns. Internal to
// codelets/mimo.

namespace tesela::kernels::mimo {

/// A complex number that may lie wherever a std::complex does.
template <class T>
using Complex = ComplexNumber<T, alignof(T)>;

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
TESELA_INLINE real_t<F> norm(F x) {
  if constexpr (is_complex<F>)
    return x.re * x.re + x.im * x.im;
  else
    return x * x;
}
template <class F>
TESELA_INLINE F number(real_t<F> x) {
  if constexpr (is_complex<F>)
    return {x, 0};
  else
    return x;
}
/// Converts to another precision.
template <class F, class X>
TESELA_INLINE F rounded(X x) {
  if constexpr (is_complex<F>)
    return {static_cast<real_t<F>>(x.re), static_cast<real_t<F>>(x.im)};
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
TESELA_INLINE real_t<F> size_of(F x) {
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

/// Replaces x by beta e1 = (I - conj(tau) v v^H) x: v is stored below beta, its first element is 1 (LAPACK larfg).
/// Nothing overflows or is lost, for any size of x.
template <class P>
TESELA_BOTH Element<P> make_reflector(index_t m, P x) {
  using F = Element<P>;
  using T = real_t<F>;
  T largest = 0;
  for (index_t i = 1; i < m; ++i) {
    const T size = size_of(x[i]);
    largest = size > largest ? size : largest;
  }
  const F alpha = x[0];
  if (largest == 0 && imag(alpha) == 0) return number<F>(0);
  const T first = size_of(alpha);
  largest = first > largest ? first : largest;
  T sum = norm(alpha / largest);
  for (index_t i = 1; i < m; ++i) sum += norm(x[i] / largest);
  const T root = std::sqrt(sum), beta = real(alpha) > 0 ? -root : root;  // in units of the largest
  const F apart = alpha / largest - number<F>(beta);
  const F inverse = conj(apart) / norm(apart);
  for (index_t i = 1; i < m; ++i) x[i] = x[i] / largest * inverse;
  x[0] = number<F>(beta * largest);
  return (number<F>(beta) - alpha / largest) / beta;
}

/// Replaces y by (I - tau v v^H) y, or with conj(tau) by the adjoint's product.
template <class P, class Q>
TESELA_BOTH void apply_reflector(index_t m, P v, Element<P> tau, Q y) {
  using F = Element<P>;
  F sum = y[0];
  for (index_t i = 1; i < m; ++i) sum += conj(F(v[i])) * F(y[i]);
  sum = tau * sum;
  y[0] -= sum;
  for (index_t i = 1; i < m; ++i) y[i] -= F(v[i]) * sum;
}

/// Moves the column with the smallest residual norm (rows k …), among columns k …, to position k (Wubben et al., 2001:
/// SQRD).
template <class P>
TESELA_BOTH void move_least_residual(index_t m, index_t n, index_t k, P a, int* order, index_t order_step) {
  using F = Element<P>;
  index_t next = k;
  real_t<F> least = 0;
  for (index_t j = k; j < n; ++j) {
    real_t<F> left = 0;
    for (index_t i = k; i < m; ++i) left += norm(F(a[i + j * m]));
    if (j == k || left < least) next = j, least = left;
  }
  if (next == k) return;
  for (index_t i = 0; i < m; ++i) {
    const F kept = a[i + k * m];
    a[i + k * m] = a[i + next * m];
    a[i + next * m] = kept;
  }
  const int kept = order[k * order_step];
  order[k * order_step] = order[next * order_step];
  order[next * order_step] = kept;
}

/// Factors A P = Q R in a, m x n: R above and on the diagonal, reflectors below, min(m, n) of tau. order[k] becomes the
/// column of A that is now the k-th; on entry it may hold an order already. `sorted`: calls move_least_residual()
/// before each step.
template <class P>
TESELA_BOTH __attribute__((noinline)) void reflect(index_t m, index_t n, P a, P tau, int* order, index_t order_step,
                                                   bool sorted) {
  using F = Element<P>;
  const index_t steps = m < n ? m : n;
  for (index_t k = 0; k < steps; ++k) {
    if (sorted) move_least_residual(m, n, k, a, order, order_step);
    tau[k] = make_reflector(m - k, a + (k + k * m));
    for (index_t j = k + 1; j < n; ++j) apply_reflector(m - k, a + (k + k * m), conj(F(tau[k])), a + (k + j * m));
  }
}

/// Replaces y by Q^H y.
template <class P, class Q>
TESELA_BOTH void apply_adjoint(index_t m, index_t n, P a, P tau, Q y) {
  using F = Element<P>;
  for (index_t k = 0; k < (m < n ? m : n); ++k) apply_reflector(m - k, a + (k + k * m), conj(F(tau[k])), y + k);
}

}  // namespace tesela::kernels::mimo
