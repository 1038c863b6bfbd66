#pragma once

#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cmath>
#include <limits>

// Arithmetic of plane rotations, and the scalar of a complex one. T is std::complex on cores and DeviceComplex on GPUs.

namespace tesela::kernels::internal {

template <class T>
TESELA_BOTH inline T magnitude(T x) {
  return x < T(0) ? -x : x;  // NaN stays NaN
}

/// Computes c a + s b with every operation rounded. A compiler that fuses them would give another rotation on a GPU
/// than on a core.
TESELA_BOTH inline double combine(double c, double a, double s, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(__dmul_rn(c, a), __dmul_rn(s, b));
#else
  return c * a + s * b;
#endif
}
TESELA_BOTH inline float combine(float c, float a, float s, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(__fmul_rn(c, a), __fmul_rn(s, b));
#else
  return c * a + s * b;
#endif
}

template <class T>
TESELA_BOTH inline bool is_zero(T x) {
  if constexpr (is_complex<T>)
    return x.real() == 0 && x.imag() == 0;
  else
    return x == T(0);
}

// The rest is for complex numbers. Every operation is rounded, as in combine().

template <class T>
TESELA_BOTH inline T rounded_product(T a, T b) {
  return T(combine(a.real(), b.real(), -a.imag(), b.imag()), combine(a.real(), b.imag(), a.imag(), b.real()));
}

/// Returns |x|^2.
template <class T>
TESELA_BOTH inline real_t<T> squared(T x) {
  return combine(x.real(), x.real(), x.imag(), x.imag());
}

/// Returns the larger magnitude of x's parts; NaN may be ignored.
template <class T>
TESELA_BOTH inline real_t<T> larger_part(T x) {
  const real_t<T> re = magnitude(x.real()), im = magnitude(x.imag());
  return re >= im ? re : im;
}

/// Constants of factor_into_range().
template <class R>
struct SquareRange;
template <>
struct SquareRange<double> {
  static constexpr double large = 0x1p300, shift = 0x1p600;
  static constexpr double most = std::numeric_limits<double>::max() / 4;  // beyond this part of rho c is subnormal
};
template <>
struct SquareRange<float> {
  static constexpr float large = 0x1p38F, shift = 0x1p96F;
  static constexpr float most = std::numeric_limits<float>::max() / 4;
};

/// Returns a power of two, 1, `shift` or 1 / shift, whose product with x != 0 has a normal square.
template <class T>
TESELA_BOTH inline real_t<T> factor_into_range(T x) {
  using R = real_t<T>;
  const R size = larger_part(x);
  return size > SquareRange<R>::large ? 1 / SquareRange<R>::shift
                                      : (size < 1 / SquareRange<R>::large ? SquareRange<R>::shift : R(1));
}

template <class T>
TESELA_BOTH inline T scaled(T x, real_t<T> factor) {
  return T(x.real() * factor, x.imag() * factor);
}

/// Returns x / |x|, x != 0.
template <class T>
TESELA_BOTH inline T phase(T x) {
  x = scaled(x, factor_into_range(x));
  const real_t<T> size = std::sqrt(squared(x));
  return T(x.real() / size, x.imag() / size);
}

/// Returns sqrt(1 - square) for a square of at most about 1/2, as complement() does. A product as `square` could be
/// fused with the subtraction: combine() makes it.
template <class R>
TESELA_BOTH inline R complement_of_square(R square) {
  return R(1) - square / (R(1) + std::sqrt(R(1) - square));
}

/// Returns the scalar of the rotation that annihilates b != 0 against a, by the quotient t = conj(b / a) alone:
/// |t| < 1: s / 2 = t / (2 sqrt(1 + |t|^2)); else 2 s / (|s| c) = 2 t sqrt(1 + 1 / |t|^2), or s if c = 0 or if the
/// scalar would overflow.
template <class T>
TESELA_BOTH inline T complex_scalar(T a, T b) {
  using R = real_t<T>;
  const R factor_a = factor_into_range(a), factor_b = factor_into_range(b);
  const T x = scaled(a, factor_a), y = conj(scaled(b, factor_b));
  if (is_zero(x)) return phase(y);
  const T direction = rounded_product(y, x);
  const R square = squared(x);
  T t(direction.real() / square, direction.imag() / square);
  if (factor_a != factor_b) t = scaled(scaled(t, factor_a), 1 / factor_b);
  const R size = squared(t);
  if (size < 1) return scaled(t, R(0.5) / std::sqrt(R(1) + size));
  const T rho = scaled(t, R(2) * std::sqrt(R(1) + R(1) / size));
  return larger_part(rho) > SquareRange<R>::most ? phase(direction) : rho;
}

}  // namespace tesela::kernels::internal
